//! Everything that a reader can fix: what passes the gates, what doesn't, and what gives nothing away.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::Value;
use toml::Table;

use crate::toy::{ends, fails, lab, stderr, stdout};

const MISTAKES: &str = include_str!("mistakes.txt");
const FIXES: &str = include_str!("fixes.txt");

/// What a reader might write.
struct Attempt {
    /// The last gate without a clock, and its mark.
    end: &'static str,
    /// Parts of `slow`, and what replaces them.
    parts: Vec<(&'static str, String)>,
}

/// What can be fixed, with its mistakes and unusual fixes.
fn attempts() -> Vec<(&'static str, Vec<Attempt>)> {
    let of = |text: &'static str| text.trim_end().split("\n# ").skip(1);
    let mut all: Vec<(_, Vec<_>)> = Vec::new();
    for case in of(MISTAKES).chain(of(FIXES)) {
        let mut parts = case.trim_end().split("\n## ");
        let name = parts.next().unwrap();
        let attempts = parts.map(attempt);
        match all.iter_mut().find(|(it, _)| *it == name) {
            Some((_, known)) => known.extend(attempts),
            None => all.push((name, attempts.collect())),
        }
    }
    all
}

fn attempt(text: &'static str) -> Attempt {
    let (head, body) = text.split_once('\n').unwrap();
    let part = |part: &'static str| {
        part.split_once("\n=>\n").map(|(from, to)| (from, to.to_owned())).unwrap()
    };
    let parts = match head.split_once(" cached ") {
        Some((_, cached)) => vec![(body, from_a_cache(body, cached.split_once(", ").unwrap()))],
        None => body.split("\n&&\n").map(part).collect(),
    };
    let end = match head.split([':', ' ']).next().unwrap() {
        "answers" => "answers not_yet\n",
        "mechanism" => "mechanism not_yet\n",
        "passed" => "mechanism passed\n",
        other => panic!("`{other}` is no end of a check"),
    };
    Attempt { end, parts }
}

impl Attempt {
    /// The reader's file.
    fn write(&self, copy: &Copy, name: &str) {
        let mut mine = read(&copy.source(name, "slow"));
        for (from, to) in &self.parts {
            assert!(mine.contains(from), "{name} has no `{from}`");
            mine = mine.replace(from, to);
        }
        fs::write(copy.source(name, "mine"), format!("#![allow(warnings)]\n{mine}")).unwrap();
    }
}

fn from_a_cache(work: &str, (kind, key): (&str, &str)) -> String {
    format!(
        "{{ static KNOWN: std::sync::Mutex<std::collections::BTreeMap<String, {kind}>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
            let key = format!(\"{{:?}}\", {key});
            let known = KNOWN.lock().unwrap().get(&key).cloned();
            match known {{
                Some(known) => known,
                None => {{ let new = {{ {work} }}; KNOWN.lock().unwrap().insert(key, new.clone()); new }}
            }} }}"
    )
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A copy of this workspace, without git and in a path that needs quotes. It shares the target directory,
/// so no dependency is compiled again. There is one at a time.
pub struct Copy(
    pub PathBuf,
    #[expect(dead_code, reason = "held as long as the copy is there")] MutexGuard<'static, ()>,
);

impl Copy {
    pub fn new(names: &[&str]) -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join("ohne git, für Übungen"), one);
        let _ = fs::remove_dir_all(&copy.0);
        fs::create_dir_all(copy.0.join("docs")).unwrap();
        for part in ["Cargo.toml", "Cargo.lock", "crates", "benches", "docs/snippets"] {
            // With the times of the files, so that cargo compiles them once.
            let (from, to) = (root().join(part), copy.0.join(part));
            assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
        }
        // With a version of its own. Cargo would take packages at the same place in their workspace, and of
        // the same version, for the same, and then build one from the sources of the other.
        let edit = |file: &Path, from: &str, to: &str| {
            let text = read(file);
            assert!(text.contains(from), "{}", file.display());
            fs::write(file, text.replace(from, to)).unwrap();
        };
        edit(&copy.0.join("Cargo.toml"), "\nversion = \"0.1.0\"", "\nversion = \"0.1.1\"");
        // No gate reads a clock, so what is built again and again need not be optimized.
        let profile = "\n[profile.release.package]\n".to_owned();
        let unoptimized = names.iter().map(|name| format!("{name}.opt-level = 0\n"));
        let unoptimized = unoptimized.fold(profile.clone(), |all, one| all + &one);
        edit(&copy.0.join("Cargo.toml"), &profile, &unoptimized);
        for name in names {
            let _ = fs::remove_file(copy.source(name, "mine"));
            let _ = fs::remove_dir_all(copy.dir(name).join("src/mine"));
        }
        copy
    }

    /// The directory of a case or an exercise.
    pub fn dir(&self, name: &str) -> PathBuf {
        let [case, exercise] = ["crates", "crates/exercises"].map(|it| self.0.join(it).join(name));
        if case.is_dir() { case } else { exercise }
    }

    fn source(&self, name: &str, variant: &str) -> PathBuf {
        let solution = self.0.join(format!("crates/exercises/solutions/{name}.rs"));
        if variant == "fixed" && solution.is_file() {
            solution
        } else {
            self.dir(name).join(format!("src/{variant}.rs"))
        }
    }

    pub fn practice(&self, args: &[&str]) -> Output {
        let mut lab = lab();
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
        lab.env("GIT_CEILING_DIRECTORIES", shared)
            .env("CARGO_TARGET_DIR", shared.parent().unwrap());
        lab.current_dir(&self.0).arg("practice").args(args).output().unwrap()
    }

    /// Has an untouched copy judged, and our fix.
    fn judge_ours(&self, names: &[&str]) {
        assert_eq!(self.check(names), (Some(1), "mechanism not_yet\n".repeat(names.len())));
        for name in names {
            fs::copy(self.source(name, "fixed"), self.source(name, "mine")).unwrap();
        }
        assert_eq!(self.check(names), (Some(0), "mechanism passed\n".repeat(names.len())));
    }

    /// Has each attempt judged.
    fn judge(&self, all: &[(&str, Vec<Attempt>)]) {
        let most = all.iter().map(|(_, attempts)| attempts.len()).max().unwrap();
        for nth in 0..most {
            let (mut names, mut ends) = (Vec::new(), String::new());
            for (name, attempts) in all {
                let Some(attempt) = attempts.get(nth) else { continue };
                names.push(*name);
                attempt.write(self, name);
                ends += attempt.end;
            }
            let code = i32::from(ends.contains("not_yet"));
            assert_eq!(self.check(&names), (Some(code), ends), "attempt {nth}");
        }
    }

    /// The exit code of the gates without a clock, and the last gate of each.
    fn check(&self, names: &[&str]) -> (Option<i32>, String) {
        let output = self.practice(&[&["check", "--fast", "--json"], names].concat());
        let printed = stdout(&output);
        let last = |line: &str| {
            let report: Value = serde_json::from_str(line).unwrap();
            let gate = report["gates"].as_array().unwrap().last().unwrap();
            eprintln!("{report}");
            format!("{} {}\n", gate["gate"].as_str().unwrap(), gate["mark"].as_str().unwrap())
        };
        assert_eq!(printed.lines().count(), names.len(), "{}", stderr(&output));
        (output.status.code(), printed.lines().map(last).collect())
    }
}

/// Everything that can be fixed, with its attempts, and a copy of the workspace in which each was begun.
fn begun() -> (Vec<(&'static str, Vec<Attempt>)>, Copy) {
    let attempts = attempts();
    let all: Vec<_> = attempts.iter().map(|(name, _)| *name).collect();
    let copy = Copy::new(&all);
    all.iter().for_each(|name| ends(&copy.practice(&["try", name]), 0));
    (attempts, copy)
}

/// While cargo builds one half, the other half is judged: no clock is.
fn in_halves<T: Sync>(all: &[T], judge: impl Fn(&[T]) + Sync) {
    let halves = all.chunks(all.len().div_ceil(2));
    thread::scope(|scope| halves.for_each(|half| drop(scope.spawn(|| judge(half)))));
}

#[test]
#[ignore = "builds everything that can be fixed: `.ci/build practice-test our_fixes`"]
fn our_fixes_pass_and_untouched_copies_do_not() {
    let (attempts, copy) = begun();
    let names: Vec<_> = attempts.iter().map(|(name, _)| *name).collect();
    in_halves(&names, |half| copy.judge_ours(half));
}

#[test]
#[ignore = "builds everything that can be fixed, again and again: `.ci/build practice-test`"]
fn other_right_fixes_pass_and_mistakes_do_not() {
    let (attempts, copy) = begun();
    in_halves(&attempts, |half| copy.judge(half));

    fs::write(copy.source("hot-clone", "mine"), "pub fn routes() -> {}\n").unwrap();
    fails(&copy.practice(&["check", "hot-clone"]), 2, "src/mine.rs:1:20");
}

/// The beginnings of words that give a fault away, by its kind.
const TELLING: [(&str, &[&str]); 8] = [
    ("lock", &["lock", "mutex", "guard", "contention"]),
    ("allocation", &["alloc", "heap", "clone", "memory"]),
    ("connection", &["connect", "handshake", "session", "pool"]),
    ("parsing", &["pars", "seriali", "deseriali"]),
    ("computing", &["cache", "memo", "recompute"]),
    ("blocking", &["block", "worker"]),
    ("waiting", &["wait", "sequential", "timeout", "batch"]),
    ("network", &["network", "nagle", "nodelay", "acknowledge"]),
];

/// The exercises that have a check: their directories and names.
fn exercises() -> Vec<(PathBuf, String)> {
    let mut exercises = Vec::new();
    for entry in root().join("crates/exercises").read_dir().unwrap() {
        let (dir, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        // The mystery server has an examination in place of a check, and the shop a contest.
        if dir.join("case.toml").is_file() && name != "shop" {
            exercises.push((dir, name.into_string().unwrap()));
        }
    }
    assert!(exercises.len() >= 3, "the exercises are in crates/exercises");
    exercises
}

#[test]
fn an_exercise_is_complete() {
    let (attempts, summary) = (attempts(), read(&root().join("docs/src/SUMMARY.md")));
    for (dir, name) in exercises() {
        assert!(attempts.iter().any(|(it, them)| *it == name && !them.is_empty()), "{name}");
        assert!(!name.contains('-'), "the first build of bench-all would take {name} for a case");
        assert!(summary.contains(&format!("](exercises/{name}.md)")), "{name} in SUMMARY.md");
        let solution = read(&dir.with_file_name("solutions").join(format!("{name}.rs")));
        assert!(solution.starts_with("//! The fix: "), "{name}");

        let case = read(&dir.join("case.toml"));
        let check = case.parse::<Table>().unwrap()["check"].clone();
        assert_eq!(check["hints"].as_array().unwrap().len(), 3, "{name}");
    }
}

#[test]
fn an_exercise_does_not_name_its_fault() {
    for (dir, name) in exercises() {
        let case = read(&dir.join("case.toml"));
        let check = case.parse::<Table>().unwrap()["check"].clone();
        let (head, _) = case.split_once("\n[check]").unwrap();
        // Code has to name its types. All other text can be silent.
        let comments = |file| {
            let text = read(&dir.join(file));
            let comments = text.lines().filter_map(|line| Some(line.split_once("//")?.1));
            comments.collect::<Vec<_>>().join("\n")
        };
        let kind = check["suspects"][0].as_str().unwrap();
        let (_, telling) = TELLING.into_iter().find(|(it, _)| *it == kind).unwrap();
        for (place, text) in [
            ("page", read(&root().join(format!("docs/src/exercises/{name}.md")))),
            ("lib", comments("src/lib.rs")),
            ("slow", comments("src/slow.rs")),
            // Two of the pictures have the name of a fault.
            ("case.toml", head.replace("\"allocations\"", "").replace("\"waits\"", "")),
            ("manifest", read(&dir.join("Cargo.toml"))),
            ("name", name.clone()),
        ] {
            let text = text.to_lowercase();
            let words = text.split(|letter: char| !letter.is_alphabetic());
            let mut found = words.filter(|word| telling.iter().any(|it| word.starts_with(it)));
            assert_eq!(found.next(), None, "{place} of {name}");
        }
    }
}

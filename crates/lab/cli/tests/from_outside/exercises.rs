//! Everything that a reader can fix: what passes the gates, what doesn't, and what gives nothing away.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use toml::Table;

use crate::toy::{ends, fails, stderr, stdout};

const CHEATS: &str = include_str!("exercises/cheats.txt");

struct Cheat {
    /// The last gate, and its mark.
    end: String,
    from: &'static str,
    to: String,
}

/// What can be fixed, with its cheats.
fn cheats() -> Vec<(&'static str, Vec<Cheat>)> {
    let cases = CHEATS.trim_end().split("\n# ").skip(1).map(|case| {
        let mut parts = case.trim_end().split("\n## ");
        (parts.next().unwrap(), parts.map(cheat).collect())
    });
    cases.collect()
}

fn cheat(text: &'static str) -> Cheat {
    let (head, body) = text.split_once('\n').unwrap();
    let (from, to) = match head.split_once(" cached ") {
        Some((_, cached)) => (body, from_a_cache(body, cached.split_once(", ").unwrap())),
        None => body.split_once("\n=>\n").map(|(from, to)| (from, to.to_owned())).unwrap(),
    };
    let gate = if head.starts_with("answers") { "answers" } else { "mechanism" };
    Cheat { end: format!("{gate} not_yet\n"), from, to }
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A copy of this workspace, without git and in a path that needs quotes. It shares the target directory,
/// so no dependency is compiled again.
struct Copy(PathBuf);

impl Copy {
    fn new(names: &[&str]) -> Self {
        let copy = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join("ohne git, für Übungen"));
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
            let manifest = copy.dir(name).join("Cargo.toml");
            edit(&manifest, "[package]\n", "[package]\nversion = \"0.1.1\"\n");
            let _ = fs::remove_file(copy.source(name, "mine"));
        }
        copy
    }

    /// The directory of a case or an exercise.
    fn dir(&self, name: &str) -> PathBuf {
        let [case, exercise] = ["crates", "crates/exercises"].map(|it| self.0.join(it).join(name));
        if case.is_dir() { case } else { exercise }
    }

    fn source(&self, name: &str, variant: &str) -> PathBuf {
        let solution = self.0.join(format!("crates/exercises/solutions/{name}.rs"));
        match variant == "fixed" && solution.is_file() {
            true => solution,
            false => self.dir(name).join(format!("src/{variant}.rs")),
        }
    }

    fn practice(&self, args: &[&str]) -> Output {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.current_dir(&self.0).env("GIT_DIR", "/nonexistent").arg("practice").args(args);
        lab.output().unwrap()
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

#[test]
#[ignore = "builds everything that can be fixed, seven times: `just practice-test`"]
fn a_fix_passes_and_an_untouched_copy_and_cheats_do_not() {
    let cheats = cheats();
    let all: Vec<_> = cheats.iter().map(|(name, _)| *name).collect();
    let copy = Copy::new(&all);
    all.iter().for_each(|name| ends(&copy.practice(&["try", name]), 0));
    assert_eq!(copy.check(&all), (Some(1), "mechanism not_yet\n".repeat(all.len())));
    for name in &all {
        fs::copy(copy.source(name, "fixed"), copy.source(name, "mine")).unwrap();
    }
    assert_eq!(copy.check(&all), (Some(0), "mechanism passed\n".repeat(all.len())));

    let most = cheats.iter().map(|(_, cheats)| cheats.len()).max().unwrap();
    for nth in 0..most {
        let (mut names, mut ends) = (Vec::new(), String::new());
        for (name, cheats) in &cheats {
            let Some(Cheat { end, from, to }) = cheats.get(nth) else { continue };
            names.push(*name);
            let slow = read(&copy.source(name, "slow"));
            assert!(slow.contains(from), "{name} has no `{from}`");
            let mine = format!("#![allow(warnings)]\n{}", slow.replace(from, to));
            fs::write(copy.source(name, "mine"), mine).unwrap();
            ends += end;
        }
        assert_eq!(copy.check(&names), (Some(1), ends), "cheat {nth}");
    }

    fs::write(copy.source("hot-clone", "mine"), "pub fn routes() -> {}\n").unwrap();
    fails(&copy.practice(&["check", "hot-clone"]), 2, "src/mine.rs:1:20");
}

/// `just predict` takes the letters of the page, no others.
#[test]
fn the_letters_of_a_page_are_those_of_its_case() {
    for entry in root().join("crates").read_dir().unwrap() {
        let file = entry.unwrap().path().join("case.toml");
        if !file.is_file() {
            continue;
        }
        let case = lab_model::Case::read(&file).unwrap();
        let page = read(&root().join(case.page()));
        let of_page = page
            .split_once("data-letters=\"")
            .map_or("", |(_, rest)| rest.split_once('"').unwrap().0);
        assert_eq!(case.letters().concat(), of_page, "{}", case.page());
        assert_eq!(case.predict.right.is_empty(), of_page.is_empty(), "{}", case.page());
    }
}

/// The beginnings of words that give a fault away, by its kind.
const TELLING: [(&str, &[&str]); 7] = [
    ("lock", &["lock", "mutex", "guard", "contention"]),
    ("allocation", &["alloc", "heap", "clone", "memory"]),
    ("connection", &["connect", "handshake", "session", "pool"]),
    ("parsing", &["pars", "seriali", "deseriali"]),
    ("computing", &["cache", "memo", "recompute"]),
    ("blocking", &["block", "worker"]),
    ("waiting", &["wait", "sequential", "timeout"]),
];

#[test]
fn an_exercise_is_complete_and_does_not_name_its_fault() {
    let (cheats, summary) = (cheats(), read(&root().join("docs/src/SUMMARY.md")));
    let mut exercises = 0;
    for entry in root().join("crates/exercises").read_dir().unwrap() {
        let (dir, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        let name = name.to_str().unwrap();
        // The mystery server has an examination in place of a check.
        if !dir.join("case.toml").is_file() {
            continue;
        }
        exercises += 1;
        assert!(cheats.iter().any(|(it, cheats)| *it == name && !cheats.is_empty()), "{name}");
        assert!(!name.contains('-'), "the first build of bench-all would take {name} for a case");
        assert!(summary.contains(&format!("](exercises/{name}.md)")), "{name} in SUMMARY.md");
        let solution = read(&dir.with_file_name("solutions").join(format!("{name}.rs")));
        assert!(solution.starts_with("//! The fix: "), "{name}");

        let case = read(&dir.join("case.toml"));
        let check = case.parse::<Table>().unwrap()["check"].clone();
        assert_eq!(check["hints"].as_array().unwrap().len(), 3, "{name}");
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
            // One of the pictures has the name of a fault.
            ("case.toml", head.replace("\"allocations\"", "")),
            ("manifest", read(&dir.join("Cargo.toml"))),
            ("name", name.to_owned()),
        ] {
            let text = text.to_lowercase();
            let words = text.split(|letter: char| !letter.is_alphabetic());
            let mut found = words.filter(|word| telling.iter().any(|it| word.starts_with(it)));
            assert_eq!(found.next(), None, "{place} of {name}");
        }
    }
    assert!(exercises >= 3, "the exercises are in crates/exercises");
}

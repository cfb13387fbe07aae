//! Everything that a reader can fix: what passes the gates, what doesn't, and what gives nothing away.

mod cheats;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use toml::Table;

use crate::toy::{Toy, stderr, stdout};
use cheats::{CHEATS, MECHANISM};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}

/// The directory of a case or an exercise.
fn dir(root: &Path, name: &str) -> PathBuf {
    let [case, exercise] = ["crates", "crates/exercises"].map(|it| root.join(it).join(name));
    if case.is_dir() { case } else { exercise }
}

/// A copy of this workspace, without git and in a path that needs quotes. It shares the target directory,
/// so no dependency is compiled again.
struct Copy(PathBuf);

impl Copy {
    fn new() -> Self {
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
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains(from), "{}", file.display());
            fs::write(file, text.replace(from, to)).unwrap();
        };
        edit(&copy.0.join("Cargo.toml"), "\nversion = \"0.1.0\"", "\nversion = \"0.1.1\"");
        // No gate reads a clock, so what is built again and again need not be optimized.
        let profile = "\n[profile.release.package]\n";
        let unoptimized = CHEATS.map(|(name, _)| format!("{name}.opt-level = 0\n")).concat();
        edit(&copy.0.join("Cargo.toml"), profile, &format!("{profile}{unoptimized}"));
        for (name, _) in CHEATS {
            let manifest = dir(&copy.0, name).join("Cargo.toml");
            edit(&manifest, "[package]\n", "[package]\nversion = \"0.1.1\"\n");
            let _ = fs::remove_file(copy.source(name, "mine"));
        }
        copy
    }

    fn source(&self, name: &str, variant: &str) -> PathBuf {
        let solution = self.0.join(format!("crates/exercises/solutions/{name}.rs"));
        match variant == "fixed" && solution.is_file() {
            true => solution,
            false => dir(&self.0, name).join(format!("src/{variant}.rs")),
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
        let (printed, error) = (stdout(&output), stderr(&output));
        let last = |line: &str| {
            let report: Value = serde_json::from_str(line).unwrap();
            let gate = report["gates"].as_array().unwrap().last().unwrap().clone();
            eprintln!("{report}");
            format!("{} {}\n", gate["gate"].as_str().unwrap(), gate["mark"].as_str().unwrap())
        };
        assert_eq!(printed.lines().count(), names.len(), "{error}");
        (output.status.code(), printed.lines().map(last).collect())
    }
}

#[test]
#[ignore = "builds everything that can be fixed, seven times: `just practice-test`"]
fn a_fix_passes_and_an_untouched_copy_and_cheats_do_not() {
    let copy = Copy::new();
    let all = CHEATS.map(|(name, _)| name);
    all.iter().for_each(|name| assert!(copy.practice(&["try", name]).status.success()));
    assert_eq!(copy.check(&all), (Some(1), MECHANISM.repeat(all.len())));
    for name in all {
        fs::copy(copy.source(name, "fixed"), copy.source(name, "mine")).unwrap();
    }
    assert_eq!(copy.check(&all), (Some(0), "mechanism passed\n".repeat(all.len())));

    let cheats = CHEATS.into_iter().filter_map(|(name, cheats)| Some((name, cheats?)));
    let cheats: Vec<_> = cheats.collect();
    let most = cheats.iter().map(|(_, cheats)| cheats.len()).max().unwrap();
    for nth in 0..most {
        let (mut names, mut ends) = (Vec::new(), String::new());
        for (name, cheats) in &cheats {
            let Some((end, from, to)) = cheats.get(nth) else { continue };
            names.push(*name);
            let slow = fs::read_to_string(copy.source(name, "slow")).unwrap();
            assert!(slow.contains(from), "{name} has no `{from}`");
            let mine = format!("#![allow(warnings)]\n{}", slow.replace(from, to));
            fs::write(copy.source(name, "mine"), mine).unwrap();
            ends += end;
        }
        assert_eq!(copy.check(&names), (Some(1), ends), "cheat {nth}");
    }

    fs::write(copy.source("hot-clone", "mine"), "pub fn routes() -> {}\n").unwrap();
    let output = copy.practice(&["check", "hot-clone"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("src/mine.rs:1:20"), "{}", stderr(&output));
}

#[test]
fn an_exercise_is_found_by_its_name_and_is_no_case() {
    let toy = Toy::new(&[]);
    fs::create_dir_all(toy.path("crates/exercises")).unwrap();
    toy.copy_the_case("drill");
    fs::rename(toy.path("crates/drill"), toy.path("crates/exercises/drill")).unwrap();
    assert!(!stdout(&toy.run(&["list"])).contains("drill"));
    let verified = |args: &[&str]| stdout(&toy.run(args)).contains("drill-slow: ok");
    assert!(verified(&["verify", "drill"]) && !verified(&["verify"]));
    assert!(stderr(&toy.run(&["verify", "drall"])).contains("did you mean `drill`?"));
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
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let summary = read(root().join("docs/src/SUMMARY.md"));
    let mut exercises = 0;
    for entry in root().join("crates/exercises").read_dir().unwrap() {
        let (dir, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        let name = name.to_str().unwrap();
        // The mystery server has an examination in place of a check.
        if !dir.join("case.toml").is_file() {
            continue;
        }
        exercises += 1;
        assert!(CHEATS.iter().any(|(it, cheats)| *it == name && cheats.is_some()), "{name}");
        assert!(!name.contains('-'), "the first build of bench-all would take {name} for a case");
        assert!(summary.contains(&format!("](exercises/{name}.md)")), "{name} in SUMMARY.md");
        let solution = read(root().join(format!("crates/exercises/solutions/{name}.rs")));
        assert!(solution.starts_with("//! The fix: "), "{name}");

        let case = read(dir.join("case.toml"));
        let check = case.parse::<Table>().unwrap()["check"].clone();
        assert_eq!(check["hints"].as_array().unwrap().len(), 3, "{name}");
        // Code has to name its types. All other text can be silent.
        let comments = ["lib", "slow"].map(|file| {
            let text = read(dir.join(format!("src/{file}.rs")));
            let comments =
                text.lines().filter_map(|line| Some(line.split_once("//")?.1.to_owned()));
            comments.collect::<Vec<_>>().join("\n")
        });
        let page = read(root().join(format!("docs/src/exercises/{name}.md")));
        let [lib, slow] = comments;
        let (head, _) = case.split_once("\n[check]").unwrap();
        // One of the pictures has the name of a fault.
        let head = head.replace("\"allocations\"", "");
        let manifest = read(dir.join("Cargo.toml"));
        let kind = check["suspect"].as_str().unwrap();
        let (_, telling) = TELLING.into_iter().find(|(it, _)| *it == kind).unwrap();
        for (place, text) in [
            ("page", &*page),
            ("lib", &lib),
            ("slow", &slow),
            ("case.toml", &head),
            ("manifest", &manifest),
            ("name", name),
        ] {
            let text = text.to_lowercase();
            let words = text.split(|letter: char| !letter.is_alphabetic());
            let mut found = words.filter(|word| telling.iter().any(|it| word.starts_with(it)));
            assert_eq!(found.next(), None, "{place} of {name}");
        }
    }
    assert!(exercises >= 3, "the exercises are in crates/exercises");
}

//! `lab practice` from outside: the reader's file, the journal, and what passes the gates.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use serde_json::Value;

use crate::toy::{Toy, stderr, stdout};

/// A toy that can be practised.
fn toy() -> Toy {
    let toy = Toy::new(&[]);
    fs::create_dir(toy.path("crates/toy/src")).unwrap();
    fs::write(toy.path("crates/toy/src/slow.rs"), "#![expect(a)]\n\nfn slow() {}\n").unwrap();
    fs::write(toy.path("crates/toy/src/fixed.rs"), "//! The fix.\nfn fixed() {}\n").unwrap();
    let file = toy.path("crates/toy/case.toml");
    let check = "[check]\nsuspect = \"lock\"\nspeed = 2.0\nat_most = { bytes = 9 }\nhints = [\"a\", \"b\"]\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + check).unwrap();
    toy
}

fn practice(toy: &Toy, args: &[&str]) -> Output {
    toy.run(&[&["practice"], args].concat())
}

#[test]
fn the_readers_file_is_begun_never_overwritten_and_compared() {
    let toy = toy();
    let mine = toy.path("crates/toy/src/mine.rs");
    assert!(stdout(&practice(&toy, &["try", "toy"])).contains("just check toy"));
    assert_eq!(fs::read_to_string(&mine).unwrap(), "fn slow() {}\n");
    fs::write(&mine, "edited\n").unwrap();
    for (verb, error) in [
        ("try", "was left as it is; `just reset toy` begins again"),
        ("reset", "nothing was changed"),
        ("solution", "has not passed"),
        ("predict", "nothing was changed"),
        ("check", "toy-mine is missing"),
    ] {
        let output = practice(&toy, &[verb, "toy"]);
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert!(stderr(&output).contains(error), "{verb}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(&mine).unwrap(), "edited\n");
    }
    let solution = stdout(&practice(&toy, &["solution", "toy", "--give-up"]));
    assert!(solution.starts_with("The fix.\n") && solution.contains("\n-edited\n"), "{solution}");
    assert!(practice(&toy, &["reset", "toy", "--yes"]).status.success());
    assert_eq!(fs::read_to_string(mine.with_extension("rs.old")).unwrap(), "edited\n");
}

#[test]
fn predictions_and_hints_are_remembered() {
    let toy = toy();
    practice(&toy, &["predict", "toy", "--suspect", "lock", "--factor", "4x"]);
    for shown in [1, 2, 2] {
        assert_eq!(stdout(&practice(&toy, &["hint", "toy"])).lines().count(), shown);
    }
    let listed = practice(&toy, &["exercises", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(
        (&listed[0]["state"], &listed[0]["entry"]["hints"]),
        (&"predicted".into(), &2.into())
    );
    assert!(stdout(&toy.bench(&["toy"])).contains("you said 4.00×, measured "));
}

#[test]
fn a_killed_write_leaves_a_whole_journal() {
    let toy = toy();
    for wait in 0..40 {
        let args = ["practice", "predict", "toy", "--suspect", "lock", "--factor", "4"];
        let mut lab = toy.lab(&args).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(300 * wait));
        lab.kill().unwrap();
        lab.wait().unwrap();
        let text = fs::read_to_string(toy.path(".practice/journal.toml")).unwrap_or_default();
        let journal: toml::Table = text.parse().unwrap();
        assert!(text.is_empty() || journal["toy"]["factor"].is_float(), "{text}");
    }
}

#[test]
fn other_answers_do_not_pass() {
    let toy = toy();
    practice(&toy, &["try", "toy"]);
    toy.program("toy-mine", "#!/bin/sh\nexec \"${0%mine}slow\" \"$@\" --answer 7\n");
    fs::rename(toy.path("programs/toy-mine"), toy.path("target/bin/toy-mine")).unwrap();
    let output = practice(&toy, &["check", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["gates"][0]["measured"], "GET /: `7` instead of `6`");
    toy.wait_until_all_servers_ended();
}

/// A copy of this workspace, without git and in a path that needs quotes. It shares the target directory,
/// so no dependency is compiled again.
struct Copy(PathBuf);

const CASES: [&str; 4] = ["lock-scope", "hot-clone", "per-request-client", "double-parse"];

impl Copy {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
        let copy = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join("ohne git, für Übungen"));
        let _ = fs::remove_dir_all(&copy.0);
        fs::create_dir_all(copy.0.join("docs")).unwrap();
        for part in ["Cargo.toml", "Cargo.lock", "crates", "benches", "docs/snippets"] {
            // With the times of the files, so that cargo compiles them once.
            let (from, to) = (root.join(part), copy.0.join(part));
            assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
        }
        // With a version of its own. Cargo would take packages at the same place in their workspace, and of
        // the same version, for the same, and then build one from the sources of the other.
        let edit = |file: &str, from: &str, to: &str| {
            let text = fs::read_to_string(copy.0.join(file)).unwrap();
            assert!(text.contains(from), "{file}");
            fs::write(copy.0.join(file), text.replace(from, to)).unwrap();
        };
        edit("Cargo.toml", "\nversion = \"0.1.0\"", "\nversion = \"0.1.1\"");
        for case in CASES {
            let manifest = format!("crates/{case}/Cargo.toml");
            edit(&manifest, "[package]\n", "[package]\nversion = \"0.1.1\"\n");
            let _ = fs::remove_file(copy.source(case, "mine"));
        }
        copy
    }

    fn source(&self, case: &str, variant: &str) -> PathBuf {
        self.0.join(format!("crates/{case}/src/{variant}.rs"))
    }

    fn practice(&self, args: &[&str]) -> Output {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.current_dir(&self.0).env("GIT_DIR", "/nonexistent").arg("practice").args(args);
        lab.output().unwrap()
    }

    /// The exit code of the gates without a clock, and the last gate of each case.
    fn check(&self, cases: &[&str]) -> (Option<i32>, String) {
        let output = self.practice(&[&["check", "--fast", "--json"], cases].concat());
        let (printed, error) = (stdout(&output), stderr(&output));
        let last = |line: &str| {
            let report: Value = serde_json::from_str(line).unwrap();
            let gate = report["gates"].as_array().unwrap().last().unwrap().clone();
            eprintln!("{report}");
            format!("{} {}\n", gate["gate"].as_str().unwrap(), gate["mark"].as_str().unwrap())
        };
        assert_eq!(printed.lines().count(), cases.len(), "{error}");
        (output.status.code(), printed.lines().map(last).collect())
    }
}

#[test]
#[ignore = "builds the cases again, which takes minutes: `just practice-test`"]
fn a_fix_passes_and_an_untouched_copy_and_cheats_do_not() {
    let copy = Copy::new();
    CASES.iter().for_each(|case| assert!(copy.practice(&["try", case]).status.success()));
    assert_eq!(copy.check(&CASES), (Some(1), "mechanism not_yet\n".repeat(4)));
    for case in CASES {
        fs::copy(copy.source(case, "fixed"), copy.source(case, "mine")).unwrap();
    }
    assert_eq!(copy.check(&CASES), (Some(0), "mechanism passed\n".repeat(4)));

    let slow = fs::read_to_string(copy.source("hot-clone", "slow")).unwrap();
    let sum = "sum_in_rounds(&user_ids, rounds).to_string()";
    let known = "use std::{collections::BTreeMap as Map, sync::Mutex};
                 static KNOWN: Mutex<Map<u64, String>> = Mutex::new(Map::new());
                 let mut known = KNOWN.lock().unwrap();
                 known.entry(rounds).or_insert_with(|| SUM).clone()";
    let once = "static ONCE: std::sync::OnceLock<Summary> = std::sync::OnceLock::new();
                Ok(ONCE.get_or_init(|| slow::summarise(bytes).unwrap()).clone())";
    // For both cases: a constant, a cache, and work that is left out.
    for (gate, hot_clone, double_parse) in [
        (
            "answers",
            "{ let _ = (user_ids, rounds); \"500005500000\".to_owned() }",
            "let _ = bytes; slow::summarise(&find_reply(10_000))",
        ),
        ("mechanism", &known.replace("SUM", sum), once),
        (
            "answers",
            "sum_in_rounds(&user_ids, rounds.min(1_000_000)).to_string()",
            "let size = SIZES.into_iter().find(|size| find_reply(*size).len() == bytes.len());
             slow::summarise(&find_reply(size.unwrap_or(1)))",
        ),
    ] {
        fs::write(copy.source("hot-clone", "mine"), slow.replace(sum, hot_clone)).unwrap();
        let double_parse = format!(
            "#![allow(unused)]\nuse crate::{{SIZES, batch::find_reply, reply::Summary, slow}};
             pub fn summarise(bytes: &[u8]) -> Result<Summary, bson::error::Error> {{ {double_parse} }}"
        );
        fs::write(copy.source("double-parse", "mine"), double_parse).unwrap();
        let ends = format!("{gate} not_yet\nanswers not_yet\n");
        assert_eq!(copy.check(&["hot-clone", "double-parse"]), (Some(1), ends));
    }

    fs::write(copy.source("hot-clone", "mine"), "pub fn routes() -> {}\n").unwrap();
    let output = copy.practice(&["check", "hot-clone"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("src/mine.rs:1:20"), "{}", stderr(&output));
}

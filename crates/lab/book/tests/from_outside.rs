//! The book from outside: `docs` fills markers, and `--check` names what a person has to fix.

use std::{
    fs,
    process::{Command, Output},
};

const CASE: &str = "title = \"A toy\"\nquestion = \"Does it answer?\"\nload = { users = 3 }\n\
    variants = [\"slow\", \"fixed\"]\n[[request]]\npath = \"/\"\nanswer = \"6\"\n";

/// A page whose markers are not filled yet.
const PAGE: &str = "# A toy\n\nSee [the record](../../record) and [below](#where-it-stops).\n\n\
    It has <!-- lab: toy.slow.counts.allocations | thousands --><!-- /lab --> allocations.\n\n\
    <!-- lab: table(\"counts\", toy) -->\n<!-- /lab -->\n\n## Where it stops\n";

#[test]
fn markers_are_filled_once_and_broken_links_are_named() {
    let workspace = tempfile::tempdir().unwrap();
    let path = |path: &str| workspace.path().join(path);
    let run = |args: &[&str]| -> Output {
        let mut book = Command::new(env!("CARGO_BIN_EXE_lab-book"));
        book.arg("docs").args(args).current_dir(workspace.path()).output().unwrap()
    };
    fs::create_dir_all(path("crates/toy")).unwrap();
    fs::write(path("crates/toy/case.toml"), CASE).unwrap();
    let none = run(&["--check"]);
    assert!(stderr(&none).contains("there is no course"), "{}", stderr(&none));
    fs::create_dir_all(path("docs/src/cases")).unwrap();
    fs::create_dir_all(path("docs/record")).unwrap();
    let page = path("docs/src/cases/toy.md");
    fs::write(&page, PAGE).unwrap();
    let counts = "[slow]\nallocations = 3000\n[fixed]\nallocations = 3\n";
    fs::write(path("crates/toy/counts.toml"), counts).unwrap();

    let stale = run(&["--check"]);
    assert_eq!(stale.status.code(), Some(1));
    assert!(stdout(&stale).contains("docs/src/cases/toy.md:7: `table(\"counts\", toy)` is empty"));
    let filled = run(&[]);
    assert!(filled.status.success(), "{}{}", stdout(&filled), stderr(&filled));
    assert!(stdout(&filled).contains("docs/src/cases/toy.md: 2 of 2 markers filled"));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("-->3,000<!--") && text.contains("| allocations | 3,000 |"), "{text}");
    assert!(run(&["--check"]).status.success());
    let value = run(&["--eval", "(toy.slow.counts.allocations / 7) | figure"]);
    assert_eq!(stdout(&value), "429\n");

    fs::write(&page, text.replace("#where-it-stops", "#where-it-ends")).unwrap();
    let broken = stdout(&run(&["--check"]));
    assert!(broken.contains("toy.md:3: the link `#where-it-ends` is broken"), "{broken}");
    fs::write(&page, text.replace("thousands", "thousand")).unwrap();
    let unknown = run(&[]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stdout(&unknown).contains("toy.md:5: "), "{}", stdout(&unknown));
    assert!(stdout(&unknown).contains("filter thousand is unknown"), "{}", stdout(&unknown));
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

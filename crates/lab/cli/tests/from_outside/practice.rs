//! `lab practice` from outside: the reader's file, the journal, and what passes the gates.

use std::{fs, process::Output};

use serde_json::json;

use crate::toy::{Toy, ends, fails, json as parsed, prints, stdout};

/// A toy that can be practised.
fn toy() -> Toy {
    let toy = Toy::new(&[]);
    toy.write("crates/toy/src/slow.rs", "#![expect(a)]\n\nfn slow() {}\n");
    toy.write("crates/toy/src/fixed.rs", "//! The fix.\nfn fixed() {}\n");
    let check = "[check]\nsuspects = [\"lock\"]\nspeed = 2.0\nat_most = { bytes = 9 }\nhints = [\"a\", \"b\"]\n";
    toy.write("crates/toy/case.toml", &(toy.read("crates/toy/case.toml") + check));
    toy
}

fn practice(toy: &Toy, args: &[&str]) -> Output {
    toy.run(&[&["practice"], args].concat())
}

#[test]
fn the_readers_file_is_begun_never_overwritten_and_compared() {
    let toy = toy();
    let mine = "crates/toy/src/mine.rs";
    prints(&practice(&toy, &["try", "toy"]), "just check toy");
    assert_eq!(toy.read(mine), "fn slow() {}\n");
    toy.write(mine, "edited\n");
    for (verb, error) in [
        ("try", "was left as it is; `just reset toy` begins again"),
        ("reset", "nothing was changed"),
        ("solution", "has not passed"),
        ("predict", "nothing was changed"),
        ("check", "toy-mine is missing"),
    ] {
        fails(&practice(&toy, &[verb, "toy"]), 2, error);
        assert_eq!(toy.read(mine), "edited\n");
    }
    let solution = stdout(&practice(&toy, &["solution", "toy", "--give-up"]));
    assert!(solution.starts_with("The fix.\n") && solution.contains("\n-edited\n"), "{solution}");
    ends(&practice(&toy, &["reset", "toy", "--yes"]), 0);
    assert_eq!(toy.read("crates/toy/src/mine.rs.old"), "edited\n");
}

#[test]
fn predictions_and_hints_are_remembered_in_whole_files() {
    let toy = toy();
    practice(&toy, &["predict", "toy", "--suspect", "lock", "--factor", "4x"]);
    // Each change replaces the file in one step, so the old one stays as it was.
    let [journal, old] = [".practice/journal.toml", "old"].map(|path| toy.path(path));
    std::fs::hard_link(journal, old).unwrap();
    for shown in [1, 2, 2] {
        assert_eq!(stdout(&practice(&toy, &["hint", "toy"])).lines().count(), shown);
    }
    assert!(toy.read("old").contains("\nfactor = 4.0\nhints = 0\n"), "{}", toy.read("old"));
    let listed = parsed(&practice(&toy, &["exercises", "--json"]));
    assert_eq!(
        (&listed[0]["state"], &listed[0]["entry"]["hints"]),
        (&"predicted".into(), &2.into())
    );
    prints(&toy.bench(&["toy"]), "you said 4.00×, measured ");
}

#[test]
fn other_answers_do_not_pass() {
    let toy = toy();
    practice(&toy, &["try", "toy"]);
    toy.program("target/bin/toy-mine", "#!/bin/sh\nexec \"${0%mine}slow\" \"$@\" --answer 7\n");
    let output = practice(&toy, &["check", "--json"]);
    ends(&output, 1);
    assert_eq!(parsed(&output)["gates"][0]["measured"], "GET /: `7` instead of `6`");
}

#[test]
fn files_that_differ_from_the_commit_are_named() {
    let toy = toy();
    toy.write(".gitignore", "mine.rs\ntarget\npids\n.practice\n");
    toy.git(&["init", "--quiet"]);
    toy.git(&["add", "."]);
    toy.git(&["commit", "--quiet", "--message", "as it is"]);
    practice(&toy, &["try", "toy"]);
    fs::copy(toy.path("target/bin/toy-slow"), toy.path("target/bin/toy-mine")).unwrap();
    let remarks = || parsed(&practice(&toy, &["check", "--json", "--fast"]))["remarks"].clone();
    assert_eq!(remarks(), json!([]));
    toy.write("crates/toy/case.toml", &toy.read("crates/toy/case.toml").replace("= 2.0", "= 1.5"));
    let differs =
        "crates/toy/case.toml differs from the commit: this verdict is about the changed case";
    assert_eq!(remarks(), json!([differs]));
}

//! `lab practice` from outside: the reader's file, the journal, and what passes the gates.

use std::{fs, process::Output, time::Duration};

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

//! The smaller verbs, and errors that say what to do.

use std::process::Command;

use crate::toy::{Toy, ends, says, stderr, stdout, wait_until};

#[test]
fn list_names_the_cases_and_their_variants() {
    let list = stdout(&Toy::new(&[]).run(&["list"]));
    assert!(
        list.contains("toy") && list.contains("Does it answer?") && list.contains("slow, fixed")
    );
}

#[test]
fn mistakes_are_explained() {
    let toy = Toy::new(&[]);
    for (args, code, message) in [
        (&["bench", "tow"][..], 1, "no case is named `tow`; did you mean `toy`?"),
        (&["bench", "--measurement", "0"], 2, "has to be between 0.1 and 3600 seconds"),
        (&["report"], 1, "`lab bench` makes one"),
    ] {
        let output = toy.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        says(&output, message);
    }
}

#[test]
fn a_missing_binary_shows_the_command_that_builds_it() {
    let toy = Toy::new(&[]);
    std::fs::remove_file(toy.path("target/bin/toy-fixed")).unwrap();
    let error = stderr(&toy.bench(&[]));
    assert!(error.contains("toy-fixed is missing; build it with `cargo build --release`"));
    assert!(toy.started().is_empty());
}

#[test]
fn outside_a_workspace_lab_explains_root() {
    let elsewhere = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .arg("list")
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    assert!(stderr(&output).contains("run `lab` inside the workspace, or name it with `--root`"));
}

#[test]
fn a_broken_case_file_is_an_error_with_its_path() {
    let toy = Toy::new(&[]);
    std::fs::write(toy.path("crates/toy/case.toml"), "title = \"no more than that\"").unwrap();
    let error = stderr(&toy.run(&["list"]));
    assert!(error.contains("crates/toy/case.toml: ") && error.contains("missing field"), "{error}");
}

#[test]
fn verify_rejects_wrong_answers() {
    assert!(Toy::new(&[]).run(&["verify"]).status.success());
    let toy = Toy::new(&["--answer", "7"]);
    let wrong = toy.run(&["verify"]);
    ends(&wrong, 1);
    assert!(stdout(&wrong).contains("GET /: `7` instead of `6`"));
    wait_until("the servers were started", || toy.started().len() == 2);
    toy.wait_until_all_servers_ended();
}

#[test]
fn count_refuses_and_stops_a_server_that_does_not_count() {
    let toy = Toy::new(&[]);
    let output = toy.run(&["count", "--check"]);
    ends(&output, 1);
    let error = stderr(&output);
    assert!(error.contains("toy-slow: this server does not count its allocations"), "{error}");
    toy.wait_until_all_servers_ended();
}

#[test]
fn doctor_prints_its_findings() {
    let output = Toy::new(&[]).run(&["doctor"]);
    ends(&output, 0);
    assert!(stdout(&output).contains("perf rights"), "{}", stdout(&output));
}

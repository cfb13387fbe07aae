//! The command line: names, help, and errors that say what to do.

use std::process::Command;

use crate::toy::{Toy, stderr, wait_until};

#[test]
fn list_names_the_cases_and_their_variants() {
    let output = Toy::new(&[]).lab(&["list"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(list.contains("toy") && list.contains("A stand-in") && list.contains("slow, fixed"));
}

#[test]
fn an_unknown_case_suggests_the_nearest() {
    let output = Toy::new(&[]).lab(&["bench", "tow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no case is named `tow`; did you mean `toy`?"));
}

#[test]
fn a_missing_binary_shows_the_command_that_builds_it() {
    let toy = Toy::new(&[]);
    std::fs::remove_file(toy.path("target/bin/toy-fixed")).unwrap();
    let output = toy.bench(&[]);
    assert!(
        stderr(&output).contains("toy-fixed is missing; build it with `cargo build --release`")
    );
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
    let path = toy.path("crates/toy/case.toml");
    std::fs::write(&path, "title = \"no more than that\"").unwrap();
    let output = toy.lab(&["list"]).output().unwrap();
    assert!(stderr(&output).contains("crates/toy/case.toml: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("missing field"), "{}", stderr(&output));
}

#[test]
fn a_measurement_of_no_time_is_rejected() {
    let output = Toy::new(&[]).lab(&["bench", "--measurement", "0"]).output().unwrap();
    assert!(stderr(&output).contains("has to be between 0.1 and 3600 seconds"));
}

#[test]
fn verify_rejects_wrong_answers() {
    let right = Toy::new(&[]).lab(&["verify"]).output().unwrap();
    assert!(right.status.success());
    let toy = Toy::new(&["--answer", "7"]);
    let wrong = toy.lab(&["verify"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stdout).unwrap().contains("GET /: `7` instead of `6`"));
    wait_until("the servers were started", || toy.started().len() == 2);
    toy.wait_until_all_servers_ended();
}

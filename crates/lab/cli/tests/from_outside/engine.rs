//! `lab compare --engine locust` with a script in place of Locust.

use std::process::{Command, Output};

use serde_json::Value;

use crate::toy::{SHORT, STAND_IN, Toy, send, stderr, stdout, wait_until};

/// Like the master and the workers of Locust: reads the plan, says when its window is open, and writes a
/// result. $TROUBLE chooses what goes wrong. Each process leaves its id where the servers leave theirs.
const LOCUST: &str = r#"#!/bin/sh
touch "$PIDS/$$"
case "$TROUBLE $*" in
    worker-dies*--worker*) echo 'no module named gevent' >&2; exit 1 ;;
    *--worker*) exec sleep 60 ;;
    dies*) echo 'out of memory' >&2; exit 1 ;;
    # A real master waits for its workers.
    hangs*|worker-dies*) touch "$PIDS/../hangs"; exec sleep 60 ;;
    lost*) lost='"worker-2"' ;;
esac
grep -q 'class Visitor' locustfile.py && grep -q '"path":"/"' "$LOCUST_PLAN" || exit 9
echo window opens; sleep 0.1; echo window closes
echo '{"locust": "9.8.7", "seconds": 2, "lost_workers": ['$lost'], "unfinished_ages_ms": [],
    "processes": [{"cores": 0.5, "waited": 0.1}],
    "visits": {"ok": 100, "ok_in_time": 98, "wrong": 0, "failed": 0, "late": 2, "longest_ms": 9.5,
        "grace_seconds": 0.5, "first_fault": null, "latency_ms": {"9.5": 100}}}' > result.json
"#;

fn compare(toy: &Toy, trouble: &str, args: &[&str]) -> Command {
    toy.program("locust", LOCUST);
    let (server, pids) = (STAND_IN, toy.path("pids"));
    let command = format!("{server} --port {{port}} --pid-dir {}", pids.display());
    let sides = ["compare", "--baseline", &command, "--candidate", &command, "--get", "/"];
    let mut lab = toy.lab(&[&sides[..], &SHORT[..], &["--engine", "locust"], args].concat());
    lab.env("PATH", toy.path_variable()).env("PIDS", pids).env("TROUBLE", trouble);
    lab
}

fn run(toy: &Toy, trouble: &str, args: &[&str]) -> Output {
    let output = compare(toy, trouble, args).output().unwrap();
    toy.wait_until_all_servers_ended();
    output
}

#[test]
fn locust_makes_the_load_and_the_record_says_so() {
    let toy = Toy::new(&[]);
    let output = run(&toy, "", &["--workers", "2", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let engine = serde_json::json!({ "name": "Locust", "version": "9.8.7", "workers": 2 });
    assert_eq!(document["engine"], engine);
    let record = std::fs::read_to_string(toy.path(document["record"].as_str().unwrap())).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let case = &record["cases"][0];
    assert_eq!(case["load"], "8 users, without a pause, by Locust 9.8.7 with 2 workers");
    assert_eq!(case["variants"][0]["throughput_rps"], 49.0);
    // In every run the server, a master and two workers; before them three servers that learn the
    // answers, and after them perhaps some that count system calls.
    let runs = case["runs"].as_array().unwrap().len();
    assert!(toy.started().len() >= 3 + 4 * runs, "{} in {runs} runs", toy.started().len());
}

#[test]
fn a_lost_worker_is_a_note_and_decides_nothing() {
    let toy = Toy::new(&[]);
    let output = run(&toy, "lost", &["--workers", "2"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Locust lost 1 of its workers in mid-run"), "{text}");
    assert!(text.contains("limited baseline and candidate; use more --workers"), "{text}");
}

#[test]
fn a_locust_that_dies_is_an_error_with_its_last_words() {
    let toy = Toy::new(&[]);
    for (trouble, words) in [("dies", "out of memory"), ("worker-dies", "no module named gevent")] {
        let output = run(&toy, trouble, &["--workers", "2"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn locust_ends_when_lab_is_killed_or_interrupted() {
    for (signal, code) in [("KILL", None), ("INT", Some(130))] {
        let toy = Toy::new(&[]);
        let mut lab = compare(&toy, "hangs", &["--workers", "2"]).spawn().unwrap();
        wait_until("Locust runs", || toy.path("hangs").exists());
        send(signal, lab.id());
        assert_eq!(lab.wait().unwrap().code(), code);
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn what_locust_cannot_do_is_an_error_before_a_server_starts() {
    let toy = Toy::new(&[]);
    let refused = |output: Output, message: &str| {
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(toy.started().is_empty());
    };
    refused(run(&toy, "", &["--even-arrivals"]), "Locust has no open loop");
    let mut lab = compare(&toy, "", &[]);
    refused(lab.env("LAB_LOCUST", "no-such-file").output().unwrap(), "pip install locust");
    let args = ["compare", "--baseline", "a", "--candidate", "b", "--get", "/", "--workers", "2"];
    refused(toy.run(&args), "--workers needs --engine locust");
}

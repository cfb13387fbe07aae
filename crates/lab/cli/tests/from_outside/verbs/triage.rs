//! `lab triage`, on a server with one fault.

use crate::toy::{Toy, ends, fails, json};

#[test]
fn a_lock_held_across_a_wait_is_the_first_suspect() {
    let toy = Toy::new(&["--turn-ms", "20"]);
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    assert_eq!(card["limit"], "one-at-a-time", "{card:#}");
    assert_eq!(card["suspects"][0]["id"], "lock", "{card:#}");
    // Each level has its figures, and the page is there.
    let mut levels = card["levels"].as_array().unwrap().iter();
    assert!(levels.all(|level| level["throughput_rps"].as_f64() > Some(0.0)));
    let files = toy.files("target/lab/triage/toy-slow");
    assert!(["index.html", "triage.json"].iter().all(|it| files.iter().any(|file| file == it)));
}

#[test]
fn memory_that_grows_with_each_request_is_the_first_suspect() {
    let card = card_of_a_server_that_keeps(&[]);
    let leak = &card["suspects"][0];
    assert_eq!(leak["id"], "leak", "{card:#}");
    let [before, after] =
        ["memory_before_mib", "memory_after_mib"].map(|key| card["facts"][key].as_f64().unwrap());
    assert!(before < 10.0 && after > before + 8.0, "{before}, {after}");
}

#[test]
fn memory_that_grows_to_a_limit_is_no_suspect() {
    // Some seconds of load reach it.
    let card = card_of_a_server_that_keeps(&["--keep-at-most", "4000"]);
    let mut suspects = card["suspects"].as_array().unwrap().iter();
    assert!(suspects.all(|it| it["id"] != "leak"), "{card:#}");
    assert!(card["facts"]["memory_after_mib"].as_f64() > Some(16.0), "{card:#}");
}

/// One that keeps 4 KiB of each request, and answers one at a time, so that the tests need little memory.
fn card_of_a_server_that_keeps(args: &[&str]) -> serde_json::Value {
    let toy = Toy::new(&[&["--turn-ms", "1", "--keep", "4"], args].concat());
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    json(&output)
}

#[test]
fn a_server_without_a_right_answer_is_an_error_and_leaves_no_page() {
    let toy = Toy::new(&["--answer", "7"]);
    fails(&toy.run(&["triage", "toy-slow"]), 2, "no right answer: ");
    assert!(!toy.path("target/lab/triage/toy-slow").exists());
}

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
fn a_server_without_a_right_answer_is_an_error_and_leaves_no_page() {
    let toy = Toy::new(&["--answer", "7"]);
    fails(&toy.run(&["triage", "toy-slow"]), 2, "no right answer: ");
    assert!(!toy.path("target/lab/triage/toy-slow").exists());
}

//! `lab triage`, on a server with one fault.

use crate::toy::{Toy, ends, fails, json, says};

#[test]
fn a_lock_held_across_a_wait_is_the_first_suspect() {
    let toy = Toy::new(&["--turn-ms=20"]);
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    assert_eq!(card["limit"], "one-at-a-time", "{card:#}");
    assert_eq!(card["suspects"][0]["id"], "lock", "{card:#}");
    // Each level has its figures, and the page is there.
    assert!(
        card["levels"]
            .as_array()
            .unwrap()
            .iter()
            .all(|level| level["throughput_rps"].as_f64() > Some(0.0))
    );
    for file in ["index.html", "triage.json"] {
        assert!(toy.path("target/lab/triage/toy-slow").join(file).is_file(), "{file}");
    }
    toy.wait_until_all_servers_ended();
}

#[test]
fn a_server_without_a_right_answer_is_an_error_and_leaves_no_page() {
    let toy = Toy::new(&["--answer=7"]);
    fails(&toy.run(&["triage", "toy-slow"]), 2, "no right answer: ");
    assert!(!toy.path("target/lab/triage/toy-slow").exists());
}

#[test]
fn a_server_that_runs_already_has_to_be_on_this_machine() {
    let toy = Toy::new(&[]);
    let output = toy.run(&["triage", "--url", "http://192.0.2.1/users"]);
    assert_eq!(output.status.code(), Some(2));
    says(&output, "is not on loopback: run `lab triage` on its machine");
    assert!(!toy.path("target/lab/triage").join("http-192.0.2.1-users").exists());
}

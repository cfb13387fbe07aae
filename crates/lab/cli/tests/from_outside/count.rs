//! `lab count` before servers that count, and before others.

use crate::toy::{Toy, stderr};

#[test]
fn without_a_build_that_counts_count_names_the_command_that_makes_one() {
    let toy = Toy::new(&[]);
    let output = toy.lab(&["count"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("no servers that count in target/lab/counting/bin"), "{error}");
    assert!(error.contains("`just count` builds them"), "{error}");
    assert!(toy.started().is_empty(), "ordinary servers are not counted");
}

#[test]
fn a_server_that_does_not_count_is_refused_and_stopped() {
    let toy = Toy::new(&[]);
    assert!(toy.lab(&["keep", "--kind", "counting"]).output().unwrap().status.success());
    assert!(toy.path("target/lab/counting/bin/toy-fixed").is_file());
    let output = toy.lab(&["count", "--check"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("toy-slow: this server does not count its allocations"), "{error}");
    toy.wait_until_all_servers_ended();
}

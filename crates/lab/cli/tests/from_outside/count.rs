//! `lab count` before servers that do not count.

use crate::toy::{Toy, stderr};

#[test]
fn a_server_that_does_not_count_is_refused_and_stopped() {
    let toy = Toy::new(&[]);
    let output = toy.lab(&["count", "--check"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("toy-slow: this server does not count its allocations"), "{error}");
    toy.wait_until_all_servers_ended();
}

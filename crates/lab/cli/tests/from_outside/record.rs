//! `lab record` from outside: what is refused before anything is read or written.

use crate::toy::{Toy, stderr};

#[test]
fn without_a_run_nothing_is_published() {
    let toy = Toy::new(&[]);
    let output = toy.lab(&["record", "--force"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there are no runs yet; `just record` makes"));
    assert!(!toy.path("docs/record").exists());
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let output = Toy::new(&[]).lab(&["record", "--name", "../elsewhere"]).output().unwrap();
    assert!(stderr(&output).contains("letters, digits and hyphens"), "{}", stderr(&output));
}

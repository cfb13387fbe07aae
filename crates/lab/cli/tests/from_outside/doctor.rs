//! `lab doctor` from outside: it checks and measures the machine.

use serde_json::Value;

use crate::toy::{Toy, stderr};

#[test]
fn json_has_every_finding_and_a_failure_is_the_exit_code() {
    let output = Toy::new(&[]).lab(&["doctor", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings[0]["topic"], "cores");
    assert_eq!(findings[findings.len() - 1]["topic"], "noise floor");
    let failed = findings.iter().any(|finding| finding["status"] == "fail");
    assert_eq!(output.status.success(), !failed, "{document}{}", stderr(&output));
    let speedup = &document["noise_floor"]["speedup"];
    assert!(speedup["confidence"].as_f64().unwrap() > 0.95, "{speedup}");
}

//! `lab doctor` from outside: it checks, measures and reports.

use serde_json::Value;

use crate::toy::{Toy, stderr};

#[test]
fn the_doctor_ends_with_the_noise_floor_and_a_summary() {
    let toy = Toy::new(&[]);
    let output = toy.lab(&["doctor"]).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let (floor, summary) = (text.find("noise floor").unwrap(), text.find(" ok, ").unwrap());
    assert!(text.find("cores").unwrap() < floor && floor < summary, "{text}");
    assert!(text.contains("(A/A, 12 pairs of "), "{text}");
    assert_eq!(output.status.success(), text.contains("0 failures"), "{text}{}", stderr(&output));
    assert!(!text.contains("of 2 missing"), "{text}");
}

#[test]
fn json_is_one_document_with_the_same_findings() {
    let output = Toy::new(&[]).lab(&["doctor", "--json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings[0]["topic"], "cores");
    assert_eq!(findings[findings.len() - 1]["topic"], "noise floor");
    let speedup = &document["noise_floor"]["speedup"];
    assert!(speedup["confidence"].as_f64().unwrap() > 0.95, "{speedup}");
}

//! The generator's own benchmark, where the rival that it needs is missing.

use std::process::Command;

use serde_json::Value;

#[test]
fn without_wrk_there_is_nothing_to_measure_and_nothing_wrong() {
    let nowhere = tempfile::tempdir().unwrap();
    let lab = |flags: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .arg("bench-generator")
            .args(flags)
            .env("PATH", nowhere.path())
            .output()
            .unwrap()
    };
    let output = lab(&[]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("skipped: wrk is not installed"));
    let output = lab(&["--json"]);
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["skipped"].as_str().unwrap().contains("apt install wrk"));
}

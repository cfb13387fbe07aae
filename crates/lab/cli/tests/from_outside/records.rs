//! The verbs that read records, on a record that no server ran for.

use serde_json::Value;

use crate::toy::{Toy, fails, json, says, stderr, stdout};

/// The commit that is checked out says nothing of binaries that somebody put in a directory.
#[test]
fn a_run_names_no_commit_of_servers_that_cargo_did_not_build() {
    let toy = Toy::new(&[]);
    toy.git(&["init", "--quiet"]);
    toy.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
    let record = json(&toy.bench(&["--json"]));
    assert_eq!(record["build"]["commit"], Value::Null, "{}", record["build"]);
    assert_eq!(record["build"]["profile"], "unknown");
}

#[test]
fn a_report_is_written_where_it_is_wanted_and_links_the_flame_page() {
    let toy = Toy::with_record();
    std::fs::create_dir_all(toy.path("target/lab/flame/toy")).unwrap();
    std::fs::write(toy.path("target/lab/flame/toy/index.html"), "").unwrap();
    let output = toy.run(&["report", "2026", "-o", "pages/mine.html"]);
    assert!(stdout(&output).contains("  Report     pages/mine.html"), "{}", stderr(&output));
    let html = std::fs::read_to_string(toy.path("pages/mine.html")).unwrap();
    assert!(html.contains("A stand-in") && html.contains("Does it answer?"));
    assert!(html.contains(r#"href="../target/lab/flame/toy/index.html""#));
    says(&toy.run(&["report", "1999"]), "no run is named `1999`");
}

#[test]
fn a_comment_comes_from_a_record_whose_verdict_agrees_with_its_figures() {
    let toy = Toy::with_record();
    let comment = |name: &str| toy.run(&["report", "--markdown", name]);
    assert!(comment("it.md").status.success(), "{}", stderr(&comment("it.md")));
    let text = std::fs::read_to_string(toy.path("it.md")).unwrap();
    assert!(text.starts_with("### `lab compare`: faster\n"), "{text}");

    let path = toy.results()[0].clone();
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["cases"][0]["verdict"] = "slower".into();
    std::fs::write(&path, record.to_string()).unwrap();
    says(&comment("other.md"), "its figures say `faster`");
    assert!(!toy.path("other.md").exists() && !toy.path("target/lab/report.html").exists());
}

#[test]
fn a_damaged_or_foreign_file_is_an_error_and_stays() {
    let toy = Toy::with_record();
    let path = toy.results()[0].clone();
    let whole = std::fs::read_to_string(&path).unwrap();
    for (content, message) in [
        (whole[..whole.len() / 2].to_owned(), "is damaged or no record of `lab`"),
        (whole.replacen("\"version\":4", "\"version\":3", 1), "use the `lab` that made it"),
        (whole.replacen("\"cases\"", "\"boxes\"", 1), "is damaged; it was left as it is"),
    ] {
        std::fs::write(&path, &content).unwrap();
        fails(&toy.run(&["report"]), 1, message);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

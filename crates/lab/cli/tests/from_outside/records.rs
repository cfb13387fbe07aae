//! The verbs that read records, on a record that no server ran for.

use serde_json::Value;

use crate::toy::{Toy, stderr, stdout};

#[test]
fn history_lists_the_runs_of_a_case() {
    let toy = Toy::new(&[]);
    assert!(stdout(&toy.run(&["history", "toy"])).contains("`lab bench toy` makes one"));
    let toy = Toy::with_record();
    let history = stdout(&toy.run(&["history", "toy"]));
    let name = toy.results()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    assert!(history.contains(&name), "{history}");
    let unknown = toy.run(&["history", "tow"]);
    assert!(stderr(&unknown).contains("did you mean `toy`?"));
}

/// The commit that is checked out says nothing of binaries that somebody put in a directory.
#[test]
fn a_run_names_no_commit_of_servers_that_cargo_did_not_build() {
    let toy = Toy::new(&[]);
    toy.git(&["init", "--quiet"]);
    toy.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
    let output = toy.bench(&["--json"]);
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["build"]["commit"], Value::Null, "{}", record["build"]);
    assert_eq!(record["build"]["profile"], "unknown");
}

#[test]
fn the_history_of_compare_needs_no_workspace() {
    let toy = Toy::with_record();
    let record = std::fs::read_to_string(&toy.results()[0]).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let lab = || {
        let mut lab = toy.lab(&["history", "compare"]);
        lab.current_dir(elsewhere.path()).output().unwrap()
    };
    assert!(stdout(&lab()).contains("`lab compare` makes one"), "{}", stderr(&lab()));
    let runs = elsewhere.path().join("target/lab/runs");
    std::fs::create_dir_all(&runs).unwrap();
    let record = record.replacen("\"case\":\"toy\"", "\"case\":\"compare\"", 1);
    std::fs::write(runs.join("20261121T151556791Z.json"), record).unwrap();
    assert!(stdout(&lab()).contains("20261121T151556791Z"), "{}", stderr(&lab()));
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
    let none = toy.run(&["report", "1999"]);
    assert!(stderr(&none).contains("no run is named `1999`"), "{}", stderr(&none));
}

#[test]
fn a_damaged_or_foreign_file_is_an_error_and_stays() {
    let toy = Toy::with_record();
    let path = toy.results()[0].clone();
    let whole = std::fs::read_to_string(&path).unwrap();
    for (content, message) in [
        (whole[..whole.len() / 2].to_owned(), "is damaged or no record of `lab`"),
        (whole.replacen("\"version\":3", "\"version\":2", 1), "use the `lab` that made it"),
        (whole.replacen("\"cases\"", "\"boxes\"", 1), "is damaged; it was left as it is"),
    ] {
        std::fs::write(&path, &content).unwrap();
        let output = toy.run(&["report"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        // The other runs can still be listed.
        let history = toy.run(&["history", "toy"]);
        assert!(history.status.success());
        assert!(stderr(&history).contains("1 runs cannot be read"), "{}", stderr(&history));
    }
}

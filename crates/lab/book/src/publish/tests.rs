use std::{
    path::Path,
    process::Command,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::{Draft, remove_older};
use crate::fixture::{Fixture, record};

/// A workspace with everything that a record needs, made from the commit that is checked out.
fn measured() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "/target\n");
    fixture.write("Cargo.lock", "[[package]]\nname = \"criterion\"\nversion = \"0.8.2\"\n");
    git(&fixture, &["init", "--quiet"]);
    git(&fixture, &["add", "."]);
    commit(&fixture);
    run(&fixture, "20261121T000000000Z.json", |_| ());
    let build =
        json!({ "rustc": null, "profile": "profiling", "commit": head(&fixture), "dirty": false });
    let meta = json!({ "command": ["/home/me/lab", "flame"], "build": build }).to_string();
    for (name, content) in [
        ("meta.json", meta.as_str()),
        ("index.html", "a page"),
        ("slow.svg", "a picture"),
        ("slow.raw.svg", "all of it"),
        ("slow.folded", "all;of;it 1"),
        ("slow.per-request.folded", "of;it 1"),
    ] {
        fixture.write(&format!("target/lab/flame/toy/{name}"), content);
    }
    bench(&fixture, "sweep-toy", "slow", Some("10"), 2);
    bench(&fixture, "alternatives-toy", "clone", None, 1);
    bench(&fixture, "hot-toy", "slow", None, 0);
    fixture
}

fn git(fixture: &Fixture, args: &[&str]) -> String {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    // Criterion's figures are younger than the commit.
    let committed = SystemTime::now() - Duration::from_secs(80 * 60);
    let committed = committed.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let git = Command::new("git")
        .args(author)
        .args(args)
        .env("GIT_COMMITTER_DATE", format!("@{committed} +0000"))
        .current_dir(fixture.path())
        .output();
    let git = git.unwrap();
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    String::from_utf8(git.stdout).unwrap().trim().to_owned()
}

fn commit(fixture: &Fixture) {
    git(fixture, &["add", "."]);
    git(fixture, &["commit", "--quiet", "--allow-empty", "--message", "m"]);
}

fn head(fixture: &Fixture) -> String {
    git(fixture, &["rev-parse", "HEAD"])
}

/// A run of what is checked out, after `change`.
fn run(fixture: &Fixture, name: &str, change: impl FnOnce(&mut Value)) {
    let mut run = record(280.0);
    run["build"]["commit"] = head(fixture).into();
    change(&mut run);
    fixture.write(&format!("target/lab/runs/{name}"), &run.to_string());
}

/// A figure of Criterion, measured some minutes ago.
fn bench(fixture: &Fixture, group: &str, name: &str, parameter: Option<&str>, minutes: u64) {
    let dir = ["target/criterion", group, name].into_iter().chain(parameter);
    let dir = dir.collect::<Vec<_>>().join("/");
    let id = json!({ "group_id": group, "function_id": name, "value_str": parameter });
    let interval = json!({ "confidence_level": 0.95, "lower_bound": 39.0, "upper_bound": 41.0 });
    let median = json!({ "point_estimate": 40.0, "confidence_interval": interval });
    fixture.write(&format!("{dir}/new/benchmark.json"), &id.to_string());
    fixture.write(&format!("{dir}/base/estimates.json"), "of another run");
    let estimates = format!("{dir}/new/estimates.json");
    fixture.write(&estimates, &json!({ "median": median }).to_string());
    let file = std::fs::File::options().write(true).open(fixture.path().join(estimates)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
}

fn draft(fixture: &Fixture) -> Draft {
    Draft::of(&fixture.workspace(), 15).unwrap()
}

#[track_caller]
fn complains(fixture: &Fixture, expected: &[&str]) {
    let complaints = draft(fixture).complaints;
    assert_eq!(complaints.len(), expected.len(), "{complaints:#?}");
    for (complaint, expected) in complaints.iter().zip(expected) {
        assert!(complaint.contains(expected), "{expected}: {complaint}");
    }
}

fn files(dir: &Path) -> Vec<String> {
    let names = dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_record_has_the_run_the_benches_and_the_pictures() {
    let fixture = measured();
    complains(&fixture, &[]);
    let draft = draft(&fixture);
    assert_eq!(draft.name(None), "2026-11-21-2-cores");
    let dir = fixture.path().join("out").join(draft.name(Some("mine")));
    assert!(draft.publish(dir.clone()).unwrap() > 0);
    assert_eq!(files(&dir), ["benches.json", "flame", "record.json"]);
    let pictures = ["meta.json", "slow.per-request.folded", "slow.svg"];
    assert_eq!(files(&dir.join("flame/toy")), pictures, "no raw graphs");

    let json = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(dir.join(file)).unwrap()).unwrap()
    };
    assert_eq!(json("record.json")["command"][0], "lab", "no paths of this machine");
    assert_eq!(json("flame/toy/meta.json")["command"][0], "lab");
    let benches = json("benches.json");
    assert_eq!(benches["criterion"], "0.8.2");
    // In the order in which they were measured, and nothing of other groups.
    let groups = benches["benches"].as_array().unwrap().iter().map(|bench| &bench["group"]);
    assert_eq!(groups.collect::<Vec<_>>(), ["sweep-toy", "alternatives-toy"]);
}

#[test]
fn a_record_is_written_once_and_leaves_only_for_a_newer_one() {
    let fixture = measured();
    let out = fixture.path().join("target/records");
    let [first, second] = ["a", "b"].map(|name| out.join(name));
    draft(&fixture).publish(first.clone()).unwrap();
    let before = std::fs::read_to_string(first.join("record.json")).unwrap();
    let again = draft(&fixture).publish(first.clone()).unwrap_err().to_string();
    assert!(again.contains("a record is written once"), "{again}");
    assert_eq!(std::fs::read_to_string(first.join("record.json")).unwrap(), before);

    run(&fixture, "20261122T000000000Z.json", |run| run["created"] = "2026-11-22T00:00:00Z".into());
    draft(&fixture).publish(second.clone()).unwrap();
    fixture.write("target/records/notes/readme.md", "no record");
    assert_eq!(remove_older(&out, &first).unwrap(), [""; 0], "the other one is newer");
    assert_eq!(remove_older(&out, &second).unwrap(), ["a"]);
    assert_eq!(files(&out), ["b", "notes"]);
}

#[test]
fn what_has_complaints_is_not_written() {
    let fixture = measured();
    run(&fixture, "20261121T000000000Z.json", |run| run["build"]["commit"] = Value::Null);
    complains(&fixture, &["the run was made with binaries of an unknown commit"]);
    let out = fixture.path().join("out");
    let error = draft(&fixture).publish(out.join("a")).unwrap_err().to_string();
    assert!(error.contains("nothing was written: the run was made"), "{error}");
    assert!(!out.exists());
}

#[test]
fn incomplete_and_doubtful_runs_are_refused() {
    let fixture = measured();
    run(&fixture, "20261122T000000000Z.json", |run| run["quick"] = true.into());
    assert!(draft(&fixture).run.ends_with("20261121T000000000Z.json"), "the whole one before it");
    run(&fixture, "20261121T000000000Z.json", |run| {
        run["build"]["profile"] = "debug".into();
        run["cases"][0]["variants"][0]["wrong"] = 1.into();
        run["cases"][0]["pairs"] = 2.into();
    });
    fixture.remove("target/lab/runs/20261122T000000000Z.json");
    complains(&fixture, &["debug builds", "has 2 pairs of toy and not 15", "wrong or missing"]);
    fixture.remove("target/lab/runs/20261121T000000000Z.json");
    let none = Draft::of(&fixture.workspace(), 15).unwrap_err().to_string();
    assert!(none.contains("there are no runs yet"), "{none}");
}

#[test]
fn results_of_another_commit_or_case_are_refused() {
    let fixture = measured();
    fixture.write("new.rs", "");
    complains(&fixture, &["uncommitted changes"]);
    commit(&fixture);
    complains(&fixture, &["the run was made from", "the flame graph of toy was made from"]);

    let fixture = measured();
    let case = fixture.read("crates/toy/case.toml").replace("sweep-toy", "sweep-tin");
    fixture.write("crates/tin/case.toml", &case);
    let tin = ["has no tin", "uncommitted", "no pictures of tin", "alternatives-tin", "sweep-tin"];
    complains(&fixture, &tin);
}

#[test]
fn old_figures_of_criterion_are_refused() {
    let fixture = measured();
    bench(&fixture, "sweep-toy", "renamed", None, 70);
    complains(&fixture, &["sweep-toy/renamed is older"]);

    let fixture = measured();
    bench(&fixture, "sweep-toy", "slow", Some("10"), 83);
    bench(&fixture, "alternatives-toy", "clone", None, 84);
    complains(&fixture, &["alternatives-toy/clone is older", "sweep-toy/slow/10 is older"]);
}

#[test]
fn a_record_names_the_command_that_the_recipe_runs() {
    let justfile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../justfile");
    assert!(std::fs::read_to_string(justfile).unwrap().contains(super::benches::COMMAND));
}

//! Publishing: a directory with everything that the book quotes. `just record` measures it first.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use lab_cases::{
    Case, MINE, Workspace,
    criterion::{self, Bench},
};
use lab_report::{CaseRecord, Record, Store};
use lab_system::Output;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the records are, below the workspace.
pub const RECORDS: &str = "docs/record";
/// Below them, the records of single cases that were measured anew.
pub const SINGLE: &str = "cases";
/// The prefixes of the groups that Criterion measures for the book. The name of a case follows.
const KINDS: [&str; 2] = ["alternatives-", "sweep-"];
/// The command that measures them.
const COMMAND: &str = "cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'";

/// `benches.json`: what Criterion found of each case's alternatives and sweeps.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Benches {
    pub made: String,
    /// In the order in which they were measured. The first bench of a group is the one that the
    /// others are compared with.
    pub benches: Vec<Bench>,
}

/// Copies the newest run, Criterion's figures and the pictures into a new directory, which appears as
/// a whole or not at all. Returns its path. Its name is the day of the run, and `name` or the machine.
///
/// With names of cases in `only`, it has these cases without Criterion's figures: the book quotes each case
/// from the newest record that has it.
///
/// # Errors
///
/// If a part is missing, or cannot be quoted, or if the directory exists.
pub fn publish(
    workspace: &Workspace,
    name: Option<&str>,
    only: &[String],
) -> anyhow::Result<PathBuf> {
    let results = workspace.results();
    let mut record = lab_report::read(&Store::new(&results).find("latest")?)?;
    let mut cases = workspace.cases()?;
    if !only.is_empty() {
        let is_named = |name: &str| only.iter().any(|other| other == name);
        cases.retain(|case| is_named(&case.name));
        record.cases.retain(|case| is_named(case.case.as_str()));
        ensure!(cases.len() == only.len(), "--case takes names of cases, such as `lock-scope`");
    }
    let commit = quotable(&record, &cases)?;
    let usual = match only {
        [] => format!("{}-cores", record.machine.cores),
        only => only.join("-"),
    };
    let dir = format!("{}-{}", record.created.strftime("%Y-%m-%d"), name.unwrap_or(&usual));
    let records = workspace.root().join(RECORDS);
    let dir = if only.is_empty() { records.join(dir) } else { records.join(SINGLE).join(dir) };
    let shown = dir.display();
    ensure!(!dir.exists(), "{shown} exists, and a record never changes: use another `--name`");
    let output = Output::begin(dir)?;
    if only.is_empty() {
        let is_wanted = |group: &str| KINDS.iter().any(|kind| group.starts_with(kind));
        let benches = Benches {
            made: COMMAND.to_owned(),
            benches: criterion::benches(&workspace.criterion(), is_wanted)?,
        };
        output.write("benches.json", &(serde_json::to_string_pretty(&benches)? + "\n"))?;
    }
    for case in &cases {
        let [from, into] = [&results, output.dir()].map(|dir| dir.join("flame").join(&case.name));
        copy_pictures(&from, &into, &commit).with_context(|| from.display().to_string())?;
    }
    without_directory(&mut record);
    output.write("record.json", &(serde_json::to_string(&record)? + "\n"))?;
    output.finish()
}

/// The commit of a record that the book can quote.
///
/// # Errors
///
/// If the record lacks a case, or has wrong answers, a reader's own fix, or uncommitted changes.
fn quotable(record: &Record, cases: &[Case]) -> anyhow::Result<String> {
    let has = |name: &str| record.cases.iter().any(|of_case| of_case.case == name);
    ensure!(
        cases.iter().all(|case| has(&case.name)) && !record.quick,
        "the newest run is quick, or lacks a case: run `just record`"
    );
    ensure!(record.cases.iter().all(CaseRecord::is_clean), "its answers are wrong or missing");
    let has_mine = record.cases.iter().any(|case| case.variant(MINE).is_some());
    ensure!(!has_mine, "the newest run has a fix of your own: run `just record`");
    let commit = record.build.commit.clone().filter(|_| record.build.dirty == Some(false));
    commit.context("the run is of no commit: commit your changes, and measure again")
}

/// Where this machine keeps its programs is of no use to readers.
fn without_directory(record: &mut Record) {
    if let Some(program) = record.command.first_mut() {
        *program = file_name(Path::new(program));
    }
}

/// Copies the pictures of a case that were made from this commit, and what they were drawn from.
///
/// The page stays behind: it links the raw graphs, which are larger than everything else.
fn copy_pictures(from: &Path, into: &Path, commit: &str) -> anyhow::Result<()> {
    fs::create_dir_all(into)?;
    for entry in from.read_dir()? {
        let path = entry?.path();
        let name = file_name(&path);
        if name == "meta.json" {
            let mut meta: Value = serde_json::from_slice(&fs::read(&path)?)?;
            let is_of_commit = meta["build"]["commit"] == commit;
            ensure!(is_of_commit, "its pictures are not of commit {commit}: run `just record`");
            let program = file_name(Path::new(meta["command"][0].as_str().unwrap_or_default()));
            meta["command"][0] = program.into();
            fs::write(into.join(name), serde_json::to_string_pretty(&meta)? + "\n")?;
        } else if is_published(&name) {
            fs::copy(&path, into.join(name))?;
        }
    }
    Ok(())
}

/// All but the raw graphs `VARIANT.raw.svg`, and `VARIANT.folded` that they were drawn from.
fn is_published(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "svg")) => !stem.ends_with(".raw"),
        Some((stem, "folded")) => stem.contains('.'),
        _ => false,
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::{Fixture, record};

    /// A workspace in which everything was measured.
    fn measured() -> Fixture {
        let fixture = Fixture::new();
        fixture.write("target/lab/runs/20261121T000000000Z.json", &record(280.0).to_string());
        let meta = json!({ "command": ["/home/me/lab"], "build": { "commit": "181884465d7aa21c85d61e18a94cc5284eb91ed2" } });
        for (name, content) in [
            ("meta.json", meta.to_string().as_str()),
            ("index.html", "a page"),
            ("slow.svg", "a picture"),
            ("slow.raw.svg", "all of it"),
            ("slow.folded", "all;of;it 1"),
            ("slow.per-request.folded", "of;it 1"),
        ] {
            fixture.write(&format!("target/lab/flame/toy/{name}"), content);
        }
        for (group, figures) in [("sweep-toy", "new"), ("sweep-toy", "base"), ("hot-toy", "new")] {
            let id = json!({ "group_id": group, "function_id": "slow", "value_str": "10" });
            let interval = json!({ "lower_bound": 39.0, "upper_bound": 41.0 });
            let median = json!({ "point_estimate": 40.0, "confidence_interval": interval });
            let dir = format!("target/criterion/{group}/slow/{figures}");
            fixture.write(&format!("{dir}/benchmark.json"), &id.to_string());
            fixture
                .write(&format!("{dir}/estimates.json"), &json!({ "median": median }).to_string());
        }
        fixture
    }

    fn files(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            dir.read_dir().unwrap().map(|entry| file_name(&entry.unwrap().path())).collect();
        names.sort();
        names
    }

    #[test]
    fn a_record_has_the_run_the_benches_and_the_pictures() {
        let fixture = measured();
        let dir = publish(&fixture.workspace(), None, &[]).unwrap();
        assert!(dir.ends_with("docs/record/2026-11-21-2-cores"));
        assert_eq!(files(&dir), ["benches.json", "flame", "record.json"]);
        let pictures = ["meta.json", "slow.per-request.folded", "slow.svg"];
        assert_eq!(files(&dir.join("flame/toy")), pictures, "no raw graphs");
        let json = |file: &str| -> Value {
            serde_json::from_slice(&fs::read(dir.join(file)).unwrap()).unwrap()
        };
        assert_eq!(json("record.json")["command"][0], "lab", "no paths of this machine");
        assert_eq!(json("flame/toy/meta.json")["command"][0], "lab");
        let benches = json("benches.json")["benches"].clone();
        assert_eq!((&benches[0]["group"], &benches[1]), (&"sweep-toy".into(), &Value::Null));
    }

    #[test]
    fn a_record_is_written_once() {
        let fixture = measured();
        publish(&fixture.workspace(), None, &[]).unwrap();
        let again = publish(&fixture.workspace(), None, &[]).unwrap_err().to_string();
        assert!(again.contains("a record never changes"), "{again}");
    }

    #[test]
    fn what_cannot_be_quoted_is_not_published() {
        for (field, value, why) in [
            ("/quick", json!(true), "is quick, or lacks a case"),
            ("/cases/0/case", json!("tin"), "is quick, or lacks a case"),
            ("/cases/0/variants/0/wrong", json!(1), "wrong or missing"),
            ("/build/dirty", json!(true), "the run is of no commit"),
            ("/build/commit", json!("29518485d"), "not of commit 29518485d"),
        ] {
            let fixture = measured();
            let mut run = record(280.0);
            *run.pointer_mut(field).unwrap() = value;
            fixture.write("target/lab/runs/20261122T000000000Z.json", &run.to_string());
            let error =
                format!("{:#}", publish(&fixture.workspace(), Some("new"), &[]).unwrap_err());
            assert!(error.contains(why), "{field}: {error}");
            assert!(!fixture.path().join("docs/record/2026-11-21-new").exists());
        }
    }

    /// The newest run may have more cases, whose figures stay those of the last record.
    #[test]
    fn a_case_that_was_measured_anew_is_quoted_from_its_own_record() {
        let fixture = measured();
        let mut run = record(123.0);
        run["created"] = "2026-12-01T00:00:00Z".into();
        let other = json!({ "case": "tin" });
        let cases = run["cases"].as_array_mut().unwrap();
        let mut tin = cases[0].clone();
        tin.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        cases.push(tin);
        fixture.write("target/lab/runs/20261201T000000000Z.json", &run.to_string());
        assert_eq!(fixture.eval("toy.speedup.throughput.estimate").unwrap(), "280.0");
        let dir = publish(&fixture.workspace(), None, &["toy".to_owned()]).unwrap();
        assert!(dir.ends_with("docs/record/cases/2026-12-01-toy"), "{}", dir.display());
        assert_eq!(files(&dir), ["flame", "record.json"]);
        assert_eq!(fixture.eval("toy.speedup.throughput.estimate").unwrap(), "123.0");
        assert_eq!(fixture.eval("record.date").unwrap(), "2026-11-21", "the rest stays");
        let summary = fixture.eval("table('summary')").unwrap();
        assert!(summary.contains("2026-11-21; toy by `lab bench"), "{summary}");
        let unknown = publish(&fixture.workspace(), Some("x"), &["lid".to_owned()]).unwrap_err();
        assert!(unknown.to_string().contains("--case takes names of cases"), "{unknown}");
    }

    #[test]
    fn a_record_names_the_command_that_the_recipe_runs() {
        let builds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../.ci/build");
        assert!(fs::read_to_string(builds).unwrap().contains(COMMAND));
    }
}

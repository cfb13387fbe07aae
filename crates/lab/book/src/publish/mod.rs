//! Publishing: a directory with everything that the book quotes.
//!
//! Nothing is measured here. The newest results are collected and checked: one commit, all cases, no
//! quick runs.

mod benches;
#[cfg(test)]
mod tests;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, ensure};
use lab_model::{Build, Case, CaseRecord, Output, Record, Store, Workspace};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use benches::Benches;

/// The end of most complaints.
const AGAIN: &str = "`just record` makes all of it again";
/// The file of the runs.
const RECORD: &str = "record.json";
/// The file that describes the pictures of a case.
const META: &str = "meta.json";

#[derive(Debug)]
pub struct Draft {
    pub run: PathBuf,
    pub record: Record,
    pub benches: Benches,
    /// Why not to publish it, in sentences that say what to do.
    pub complaints: Vec<String>,
    /// Directories with pictures, by case.
    pictures: Vec<(String, PathBuf)>,
}

impl Draft {
    /// The newest results of the workspace, of at least so many pairs.
    ///
    /// # Errors
    ///
    /// If there is no run at all, or a file cannot be read.
    pub fn of(workspace: &Workspace, pairs: usize) -> anyhow::Result<Self> {
        let cases = workspace.cases()?;
        let results = workspace.results();
        let (run, record, mut complaints) = newest_run(&Store::new(&results), &cases, pairs)?;
        let now = Build::of(workspace.root(), workspace.bin_dir());
        if now.dirty == Some(true) {
            complaints.push("the working tree has uncommitted changes: commit them".to_owned());
        }
        complaints.extend(other_build("the run", &record.build, &now));
        let mut pictures = Vec::new();
        for Case { name, .. } in &cases {
            let dir = results.join("flame").join(name);
            if !dir.join(META).is_file() {
                complaints.push(format!("there are no pictures of {name}: {AGAIN}"));
                continue;
            }
            let mut meta: Value = read_json(&dir.join(META))?;
            let build = serde_json::from_value(meta["build"].take());
            let build =
                build.with_context(|| format!("{} is damaged", dir.join(META).display()))?;
            complaints.extend(other_build(&format!("the flame graph of {name}"), &build, &now));
            pictures.push((name.clone(), dir));
        }
        let (benches, faults) = Benches::of(workspace, &cases, commit_time(workspace.root()))?;
        complaints.extend(faults);
        Ok(Self { run, record, benches, complaints, pictures })
    }

    /// The name of the record's directory: the day of its run, and `name` or the machine.
    pub fn name(&self, name: Option<&str>) -> String {
        let cores = self.record.machine.cores;
        let machine = format!("{cores}-core{}", if cores == 1 { "" } else { "s" });
        format!("{}-{}", self.record.created.strftime("%Y-%m-%d"), name.unwrap_or(&machine))
    }

    /// Writes the record as `dir`, which appears as a whole or not at all. Returns its size in bytes.
    ///
    /// # Errors
    ///
    /// If there are complaints, if `dir` exists, or if it cannot be written.
    pub fn publish(mut self, dir: PathBuf) -> anyhow::Result<u64> {
        ensure!(self.complaints.is_empty(), "nothing was written: {}", self.complaints.join("; "));
        ensure!(
            !dir.exists(),
            "{} exists, and a record is written once: `--name` gives this one another name",
            dir.display()
        );
        let output = Output::begin(dir)?;
        if let Some(program) = self.record.command.first_mut() {
            *program = file_name(program);
        }
        let mut bytes = 0;
        let run = serde_json::to_string_pretty(&self.record)?;
        let benches = serde_json::to_string_pretty(&self.benches)?;
        for (name, text) in [(RECORD, run + "\n"), ("benches.json", benches + "\n")] {
            output.write(name, &text)?;
            bytes += text.len() as u64;
        }
        for (case, from) in &self.pictures {
            bytes += copy(from, &output.dir().join("flame").join(case))?;
        }
        output.finish()?;
        Ok(bytes)
    }
}

/// Removes the records below `records` that are older than the new one, `kept`; returns their names.
///
/// Call it when the new record is complete. Each directory leaves in one step, and git keeps it.
pub fn remove_older(records: &Path, kept: &Path) -> anyhow::Result<Vec<String>> {
    let created = |dir: &Path| lab_model::read(&dir.join(RECORD)).map(|record| record.created);
    let newest = created(kept)?;
    let entries =
        records.read_dir().with_context(|| format!("cannot read {}", records.display()))?;
    let mut removed = Vec::new();
    for entry in entries {
        let dir = entry?.path();
        // What cannot be read is no record of this `lab`, and stays.
        if created(&dir).is_ok_and(|created| created < newest) {
            let name = file_name(&dir.to_string_lossy());
            let leaving = records.join(format!(".old-{name}"));
            fs::rename(&dir, &leaving)
                .and_then(|()| fs::remove_dir_all(&leaving))
                .with_context(|| format!("cannot remove {}", dir.display()))?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// The newest run that can be published, or else the newest run and why it cannot be published.
fn newest_run(
    store: &Store,
    cases: &[Case],
    pairs: usize,
) -> anyhow::Result<(PathBuf, Record, Vec<String>)> {
    let mut newest = None;
    for path in store.paths()?.into_iter().rev() {
        let record = match lab_model::read(&path) {
            Ok(record) => record,
            Err(error) => {
                eprintln!("note: skipped a run: {error:#}");
                continue;
            }
        };
        let faults = faults(&record, cases, pairs);
        if faults.is_empty() {
            return Ok((path, record, faults));
        }
        newest.get_or_insert((path, record, faults));
    }
    let (path, record, faults) =
        newest.context("there are no runs yet; `just record` makes what is needed")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let faults = faults.iter().map(|fault| format!("the newest run, {name}, {fault}: {AGAIN}"));
    Ok((path.clone(), record, faults.collect()))
}

/// Why not to publish a run, as ends of sentences.
fn faults(record: &Record, cases: &[Case], pairs: usize) -> Vec<String> {
    let mut faults = Vec::new();
    if record.quick {
        faults.push("was a quick run".to_owned());
    }
    if record.build.profile == "debug" {
        faults.push("measured debug builds".to_owned());
    }
    for case in cases {
        match record.cases.iter().find(|it| it.case == case.name) {
            None => faults.push(format!("has no {}", case.name)),
            Some(it) if it.pairs < pairs => {
                faults.push(format!("has {} pairs of {} and not {pairs}", it.pairs, it.case));
            }
            Some(_) => {}
        }
    }
    if !record.cases.iter().all(CaseRecord::is_clean) {
        faults.push("has wrong or missing answers".to_owned());
    }
    faults
}

/// A complaint if `what` was made from another commit than the one that is checked out.
fn other_build(what: &str, then: &Build, now: &Build) -> Option<String> {
    if then.dirty == Some(true) {
        return Some(format!("{what} was made with uncommitted changes: {AGAIN}"));
    }
    if then.commit.is_none() {
        return Some(format!("{what} was made with binaries of an unknown commit: {AGAIN}"));
    }
    let short = |commit: &Option<String>| {
        commit.as_deref().map_or("no commit", |commit| &commit[..commit.len().min(9)]).to_owned()
    };
    (then.commit != now.commit).then(|| {
        let (then, now) = (short(&then.commit), short(&now.commit));
        format!("{what} was made from {then}, but {now} is checked out: {AGAIN}")
    })
}

/// When the commit that is checked out was made.
fn commit_time(root: &Path) -> Option<SystemTime> {
    let seconds =
        lab_model::output_of(root, "git", &["log", "-1", "--format=%ct"])?.parse().ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Copies the pictures of a case, and what they were drawn from. Returns the bytes.
///
/// The page stays behind: it links the raw graphs, which are larger than everything else.
fn copy(from: &Path, into: &Path) -> anyhow::Result<u64> {
    fs::create_dir_all(into).with_context(|| format!("cannot make {}", into.display()))?;
    let mut bytes = 0;
    let entries = from.read_dir().with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let copy = into.join(&name);
        if name == META {
            let mut meta: Value = read_json(&path)?;
            if let Some(program) = meta["command"].get_mut(0) {
                *program = file_name(program.as_str().unwrap_or_default()).into();
            }
            fs::write(&copy, serde_json::to_string_pretty(&meta)? + "\n")
        } else if is_published(&name) {
            fs::copy(&path, &copy).map(drop)
        } else {
            continue;
        }
        .with_context(|| format!("cannot write {}", copy.display()))?;
        bytes += copy.metadata()?.len();
    }
    Ok(bytes)
}

/// All but the raw graphs `VARIANT.raw.svg`, and `VARIANT.folded` that they were drawn from.
fn is_published(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "svg")) => !stem.ends_with(".raw"),
        Some((stem, "folded")) => stem.contains('.'),
        _ => false,
    }
}

/// The last part of a path: where this machine keeps its programs is of no use to readers.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
}

//! A record to publish: what a page may quote, with everything that a doubter asks for.
//!
//! Nothing is measured here. What `just record` has measured is taken from the directory of results,
//! and judged: figures of one commit, of all cases, and none of a quick look.

pub mod benches;
mod pictures;
mod runs;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{
    bench::Record,
    case::Case,
    machine::Build,
    store::{Output, Store},
    workspace::Workspace,
};
use benches::Benches;
use pictures::Page;

/// The record that can be made of the results.
#[derive(Debug)]
pub struct Draft {
    /// The file of the run.
    pub run: PathBuf,
    /// What `lab bench` measured.
    pub record: Record,
    /// What Criterion measured.
    pub benches: Benches,
    /// The pictures that there are.
    pages: Vec<Page>,
    /// Why this should not be published, in sentences that say what to do; nothing if it may be.
    pub complaints: Vec<String>,
}

/// What was written.
#[derive(Debug)]
pub struct Published {
    /// The directory.
    pub dir: PathBuf,
    /// Files and their bytes: of the run, of the benches, and of the pictures.
    pub parts: [(usize, u64); 3],
}

impl Published {
    /// How large all of it is, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }
}

impl Draft {
    /// The newest results of the workspace, of at least so many pairs.
    ///
    /// # Errors
    ///
    /// If there is no run at all, or a file cannot be read.
    pub fn of(workspace: &Workspace, cases: &[Case], pairs: usize) -> anyhow::Result<Self> {
        let (run, record, mut complaints) =
            runs::newest(&Store::new(&workspace.results()), cases, pairs)?;

        let now = Build::of(workspace.root(), workspace.bin_dir());
        if now.dirty == Some(true) {
            complaints.push("the tree holds changes that no commit has: commit them".to_owned());
        }
        complaints.extend(stranger("the run", &record.build, &now));

        let (benches, faults) = Benches::of(workspace, cases, commit_time(workspace.root()))?;
        complaints.extend(faults);
        let (pages, faults) = pictures::of(workspace, cases, &now)?;
        complaints.extend(faults);
        Ok(Self { run, record, benches, pages, complaints })
    }

    /// The name of the record's directory: the day of its run, and `name` or the machine.
    pub fn name(&self, name: Option<&str>) -> String {
        let cores = self.record.machine.cores;
        let machine = format!("{cores}-core{}", if cores == 1 { "" } else { "s" });
        format!("{}-{}", self.record.created.strftime("%Y-%m-%d"), name.unwrap_or(&machine))
    }

    /// Writes the record as `dir`, which appears whole or not at all.
    ///
    /// # Errors
    ///
    /// If `dir` is there already and is not to be replaced, or cannot be written.
    pub fn publish(mut self, dir: PathBuf, replace: bool) -> anyhow::Result<Published> {
        if dir.exists() && !replace {
            bail!(
                "{} is there already: `--replace` puts this record in its place, `--name` gives it \
                 another name",
                dir.display()
            );
        }
        let output = Output::begin(dir)?;
        // Where this machine keeps its programs is nobody's business, nor of use to anybody.
        if let Some(program) = self.record.command.first_mut() {
            *program = file_name(program);
        }
        let run = serde_json::to_string_pretty(&self.record)? + "\n";
        output.write("record.json", &run)?;
        let benches = serde_json::to_string_pretty(&self.benches)? + "\n";
        output.write("benches.json", &benches)?;
        let pictures = pictures::copy(&self.pages, &output.dir().join("flame"))?;
        let parts = [(1, run.len() as u64), (1, benches.len() as u64), pictures];
        Ok(Published { dir: output.finish()?, parts })
    }
}

/// A complaint if `what` was made from another tree than the one that is checked out `now`.
fn stranger(what: &str, then: &Build, now: &Build) -> Option<String> {
    if then.dirty == Some(true) {
        return Some(format!("{what} was made with changes that no commit has: {AGAIN}"));
    }
    let short = |commit: &Option<String>| {
        commit.as_deref().map_or("no commit", |commit| &commit[..commit.len().min(9)]).to_owned()
    };
    (then.commit != now.commit).then(|| {
        let (then, now) = (short(&then.commit), short(&now.commit));
        format!("{what} was made from {then} and {now} is checked out: {AGAIN}")
    })
}

/// The remedy for most complaints.
const AGAIN: &str = "`just record` makes all of it again";

/// When the commit that is checked out was made.
fn commit_time(root: &Path) -> Option<SystemTime> {
    let git = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root).output();
    let seconds = String::from_utf8(git.ok()?.stdout).ok()?.trim().parse().ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads a JSON document of whatever form.
fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
}

//! `benches.json`: what Criterion found of each case's alternatives and sweeps.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::ensure;
use lab_model::{
    Case, Workspace,
    criterion::{self, Bench, Measured},
};
use serde::{Deserialize, Serialize};

use super::{AGAIN, read_json};

/// The command that measures them all.
pub(super) const COMMAND: &str = "cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'";
/// The groups are named after these and the case.
const KINDS: [&str; 2] = ["alternatives-", "sweep-"];
/// Figures that are this much older than the newest one come from another call of the command.
const ONE_CALL: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Benches {
    pub made: String,
    pub criterion: Option<String>,
    /// What `ns` is an estimate of.
    pub estimate: String,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// In the order in which they were measured. The first bench of a group is the one that the
    /// others are compared with.
    pub benches: Vec<Bench>,
}

impl Benches {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        ensure!(path.is_file(), "{} is missing: `just record` makes it", path.display());
        read_json(path)
    }

    /// The last figures, and why not to publish them. `since` is the time of the commit that is
    /// checked out.
    pub(super) fn of(
        workspace: &Workspace,
        cases: &[Case],
        since: Option<SystemTime>,
    ) -> anyhow::Result<(Self, Vec<String>)> {
        let is_wanted = |group: &str| KINDS.iter().any(|kind| group.starts_with(kind));
        let measured = criterion::benches(&workspace.criterion(), is_wanted)?;
        let complaints = complaints(&measured, cases, since);
        let benches = Self {
            made: COMMAND.to_owned(),
            criterion: criterion::version(workspace.root()),
            estimate: "median".to_owned(),
            confidence: 0.95,
            benches: measured.into_iter().map(|measured| measured.bench).collect(),
        };
        Ok((benches, complaints))
    }
}

fn complaints(measured: &[Measured], cases: &[Case], since: Option<SystemTime>) -> Vec<String> {
    let mut complaints = Vec::new();
    for group in cases.iter().flat_map(|case| KINDS.map(|kind| format!("{kind}{}", case.name))) {
        if measured.iter().all(|it| it.bench.group != group) {
            complaints.push(format!("Criterion has no figures of {group}: {AGAIN}"));
        }
    }
    let newest = measured.last().map(|it| it.at);
    let since = since.max(newest.and_then(|newest| newest.checked_sub(ONE_CALL)));
    for it in measured.iter().filter(|it| since.is_some_and(|since| it.at < since)) {
        complaints.push(format!(
            "{} is older than Criterion's other figures, or than the commit that is checked out: \
             remove it if this bench is gone; if not, {AGAIN}",
            it.dir.display()
        ));
    }
    complaints
}

//! `benches.json`: what Criterion found of each case's alternatives and sweeps.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::AGAIN;
use crate::{
    case::Case,
    criterion::{self, Bench, Measured},
    workspace::Workspace,
};

/// The command that measures them all.
pub const COMMAND: &str = "cargo bench --package benches --features alternatives --bench 'alternatives_*' --bench 'sweep_*'";
/// What the groups' names begin with; then comes the case, and perhaps more.
const KINDS: [&str; 2] = ["alternatives-", "sweep-"];
/// What is that much older than the newest figure is of another call of the command.
const ONE_CALL: Duration = Duration::from_secs(3600);

/// Figures of one call of Criterion.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Benches {
    /// The command that made them.
    pub made: String,
    /// The version of Criterion.
    pub criterion: Option<String>,
    /// What `ns` is an estimate of.
    pub estimate: String,
    /// How sure it is that the interval holds it.
    pub confidence: f64,
    /// In the order in which they were measured: in each group, first what the others are compared
    /// with.
    pub benches: Vec<Bench>,
}

impl Benches {
    /// The last figures, and what speaks against them; `since` is when their sources were committed.
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

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.benches.iter().map(|bench| &bench.group).collect::<BTreeSet<_>>().len()
    }
}

fn complaints(measured: &[Measured], cases: &[Case], since: Option<SystemTime>) -> Vec<String> {
    let mut complaints = Vec::new();
    for case in cases {
        for group in KINDS.map(|kind| format!("{kind}{}", case.name)) {
            if measured.iter().all(|it| it.bench.group != group) {
                complaints.push(format!("Criterion has no figures of {group}: {AGAIN}"));
            }
        }
    }
    let Some(newest) = measured.last().map(|it| it.at) else { return complaints };
    if since.is_some_and(|since| newest < since) {
        complaints.push(format!(
            "Criterion's figures are older than the commit that is checked out: {AGAIN}"
        ));
        return complaints;
    }
    for it in measured {
        let is_of_this_call = newest.duration_since(it.at).is_ok_and(|age| age <= ONE_CALL);
        if !is_of_this_call || since.is_some_and(|since| it.at < since) {
            complaints.push(format!(
                "{} is of an earlier call than Criterion's other figures: remove it if there is no \
                 such bench any more; or else {AGAIN}",
                it.dir.display()
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_a_record_names_is_the_one_that_the_recipe_runs() {
        let justfile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../justfile");
        assert!(std::fs::read_to_string(justfile).unwrap().contains(COMMAND));
    }
}

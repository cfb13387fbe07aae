//! The states of a history, each as a program that is built and gives the right answers.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use lab_measure::bench::Effort;
use lab_protocol::Note;
use lab_report::{ChangeKind, ChangeName};
use lab_servers::{
    Artifact, BaselineAnswers, History, HistoryChange, Revisions, lock_file::CrateChange,
};

use super::{Options, programs::BuiltProgram};

pub struct States<'a> {
    pub options: &'a Options,
    pub revisions: &'a Revisions,
    pub what: &'a Artifact,
    /// For the bodies of requests.
    pub files: &'a Path,
    pub history: History,
    /// The right answers of a server, once they are learned.
    pub answers: Option<BaselineAnswers>,
    /// How long the last build took.
    pub build_takes: Duration,
}

impl States<'_> {
    /// The number of the last one.
    pub fn last(&self) -> usize {
        self.history.changes.len()
    }

    pub fn kind(&self) -> ChangeKind {
        match self.history.changes[..] {
            [HistoryChange::Crates(_), ..] => ChangeKind::Crates,
            _ => ChangeKind::Commit,
        }
    }

    async fn build(&mut self, state: usize) -> anyhow::Result<BuiltProgram> {
        let begun = Instant::now();
        let built = self.history.build(self.revisions, state, self.what).await?;
        self.build_takes = begun.elapsed();
        BuiltProgram::of(self.options, &self.history.name(state), &built, self.files)
    }

    /// The first state and the last one, and how to measure them: in short runs, so that a round meets the machine in one
    /// state.
    pub async fn ends(&mut self) -> anyhow::Result<([BuiltProgram; 2], Effort)> {
        let mut ends = [self.build(0).await?, self.build(self.last()).await?];
        let seed = jiff::Timestamp::now().as_microsecond() as u64;
        let effort = Effort { metric: self.options.metric(), ..Effort::usual(true, seed) };
        let [BuiltProgram::Server(first), BuiltProgram::Server(last)] = &mut ends else {
            return Ok((ends, effort));
        };
        let requests = &self.options.server.requests;
        let (answers, _, visit) = BaselineAnswers::learn(first, requests).await?;
        let (_, other) = answers.check(last, requests, true).await?;
        self.answers = Some(answers);
        Ok((ends, effort.for_visits(visit.max(other))))
    }

    /// A state with the answers of the first one, and what isn't checked of them under load.
    pub async fn program(&mut self, state: usize) -> anyhow::Result<(BuiltProgram, Vec<Note>)> {
        let mut program = self.build(state).await?;
        let mut notes = Vec::new();
        if let (Some(answers), BuiltProgram::Server(server)) = (&self.answers, &mut program) {
            (notes, _) = answers.check(server, &self.options.server.requests, false).await?;
        }
        Ok((program, notes))
    }

    /// How readers know a change.
    pub fn change(&self, change: usize) -> ChangeName {
        match &self.history.changes[change - 1] {
            HistoryChange::Commit { hash, subject } => {
                ChangeName { name: hash[..hash.len().min(10)].to_owned(), title: subject.clone() }
            }
            HistoryChange::Crates(crates) => {
                let names: Vec<_> = crates.iter().map(versions).collect();
                ChangeName { name: names.join(", "), title: String::new() }
            }
        }
    }
}

/// `tokio 1.50.0 → 1.52.1`
fn versions(CrateChange { name, from, to }: &CrateChange) -> String {
    match (from.join(" and "), to.join(" and ")) {
        (from, to) if from.is_empty() => format!("{name} {to} (new)"),
        (from, to) if to.is_empty() => format!("{name} {from} (gone)"),
        (from, to) => format!("{name} {from} → {to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_has_both_versions_or_is_new_or_gone() {
        let change = |from: &[&str], to: &[&str]| {
            let [from, to] = [from, to].map(|all| all.iter().map(|it| (*it).to_owned()).collect());
            versions(&CrateChange { name: "syn".to_owned(), from, to })
        };
        assert_eq!(change(&["1.0.0"], &["1.0.1"]), "syn 1.0.0 → 1.0.1");
        assert_eq!(change(&["1.0.0", "2.0.0"], &["3.0.0"]), "syn 1.0.0 and 2.0.0 → 3.0.0");
        assert_eq!(change(&[], &["1.0.0"]), "syn 1.0.0 (new)");
        assert_eq!(change(&["1.0.0"], &[]), "syn 1.0.0 (gone)");
    }
}

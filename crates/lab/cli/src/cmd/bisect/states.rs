//! The states of a history, each as a program that is built and gives the right answers.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use lab_measure::bench::Effort;
use lab_protocol::Note;
use lab_report::ChangeKind;
use lab_servers::{Artifact, BaselineAnswers, Built, History, Revisions};

use super::{
    Options,
    programs::{BuiltProgram, program},
};

pub struct States<'a> {
    pub options: &'a Options,
    pub revisions: &'a Revisions,
    pub what: &'a Artifact,
    /// For the bodies of requests.
    pub files: &'a Path,
    pub history: History,
    /// The right answers of a server, once they are learned, and what isn't checked of them under load.
    pub answers: Option<(BaselineAnswers, Vec<Note>)>,
    /// How long the last build took.
    pub build_takes: Duration,
}

impl States<'_> {
    /// The number of the last one.
    pub fn last(&self) -> usize {
        self.history.changes.len()
    }

    pub fn kind(&self) -> ChangeKind {
        ChangeKind::of(&self.history.changes)
    }

    pub async fn build(&mut self, state: usize) -> anyhow::Result<Built> {
        let begun = Instant::now();
        let built = self.history.build(self.revisions, state, self.what).await?;
        self.build_takes = begun.elapsed();
        Ok(built)
    }

    /// The first state and the last one, and how to measure them: in short runs, so that a round meets the machine in one
    /// state.
    pub async fn ends(&mut self) -> anyhow::Result<([BuiltProgram; 2], Effort)> {
        let mut ends = Vec::new();
        for state in [0, self.last()] {
            let built = self.build(state).await?;
            ends.push(program(self.options, &self.history.name(state), &built, self.files)?);
        }
        let seed = jiff::Timestamp::now().as_microsecond() as u64;
        let effort = Effort { metric: self.options.metric(), ..Effort::usual(true, seed) };
        let Ok(mut ends) = <[BuiltProgram; 2]>::try_from(ends) else {
            anyhow::bail!("a history has two ends")
        };
        let [BuiltProgram::Server(first), BuiltProgram::Server(last)] = &mut ends else {
            return Ok((ends, effort));
        };
        let requests = &self.options.server.requests;
        let (answers, notes, visit) = BaselineAnswers::learn(first, requests).await?;
        let (_, other) = answers.check(last, requests, true).await?;
        self.answers = Some((answers, notes));
        Ok((ends, effort.for_visits(visit.max(other))))
    }

    /// A state with the answers of the first one.
    pub async fn program(&mut self, state: usize) -> anyhow::Result<BuiltProgram> {
        let built = self.build(state).await?;
        Ok(self.checked(state, &built).await?.0)
    }

    /// A state that was built, with the answers of the first one, and what isn't checked of them under load.
    pub async fn checked(
        &self,
        state: usize,
        built: &Built,
    ) -> anyhow::Result<(BuiltProgram, Vec<Note>)> {
        let mut program = program(self.options, &self.history.name(state), built, self.files)?;
        let mut notes = Vec::new();
        if let (Some((answers, _)), BuiltProgram::Server(server)) = (&self.answers, &mut program) {
            (notes, _) = answers.check(server, &self.options.server.requests, false).await?;
        }
        Ok((program, notes))
    }
}

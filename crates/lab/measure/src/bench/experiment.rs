//! An experiment as plain data: which servers, asked for what, under which load, and how much is measured.

use std::time::Duration;

use lab_cases::{Case, Promise, Reference, Workspace};
use lab_protocol::{Load, Note, Request};
use lab_report::CaseName;
use lab_servers::{Launch, Subject};

use super::{Effort, Engine, Until};
use crate::Workload;

/// How long counting the system calls of a server usually takes; `count::LONGEST` is the most.
const COUNT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Experiment {
    /// The name in progress and messages.
    pub name: CaseName,
    /// The servers; the first is the baseline.
    pub subjects: Vec<Subject>,
    /// The candidate that the verdict is about; `None` for all of them.
    pub candidate: Option<String>,
    pub workload: Workload,
    pub engine: Engine,
    pub effort: Effort,
    /// How long a visit takes that meets no other, to the slowest server; zero if nobody knows.
    pub visit_takes: Duration,
    /// Whether the system calls of a visit are counted after the runs.
    pub counts_system_calls: bool,
    /// Whether each request of a visit is then loaded alone, to learn its CPU time.
    pub loads_alone: bool,
    /// Notes from before the runs, on what limits the results.
    pub notes: Vec<Note>,
    /// The promise of the case file, which holds for the load that the file names.
    pub promise: Option<Promise>,
    /// A note on what the steps have in common.
    pub steps_note: Option<String>,
    /// The exact counts of each server's visit, as the case's file has them.
    pub exact: Reference,
}

impl Experiment {
    /// # Errors
    ///
    /// If this program can't be started as the generator.
    pub fn new(
        name: CaseName,
        load: Load,
        subjects: Vec<Subject>,
        effort: Effort,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            name,
            subjects,
            candidate: None,
            workload: Workload::of_users(load),
            engine: Engine::lab()?,
            effort,
            visit_takes: Duration::ZERO,
            counts_system_calls: false,
            loads_alone: false,
            notes: Vec::new(),
            promise: None,
            steps_note: None,
            exact: Reference::default(),
        })
    }

    /// The variants of a case, under its own load.
    ///
    /// # Errors
    ///
    /// If the system doesn't allow as many connections, if a variant has no server, or if this program can't be
    /// started as the generator.
    pub fn of_case(
        workspace: &Workspace,
        case: &Case,
        variants: &[String],
        effort: Effort,
    ) -> anyhow::Result<Self> {
        let (own, workload) = Workload::of_case(case)?;
        let mut subjects = Vec::new();
        for variant in variants {
            let launch = Launch::of_case(workspace, case, variant)?;
            let may_outlast = case.allow_unfinished.contains(variant);
            let subject = Subject::new(variant, launch, own.clone());
            subjects.push(Subject { may_outlast, ..subject });
        }
        Ok(Self {
            workload,
            promise: case.promise,
            steps_note: case.steps_note.clone(),
            exact: workspace.counts(case).unwrap_or_default(),
            ..Self::new(CaseName::from(&*case.shown), case.load, subjects, effort)?
        })
    }

    /// The requests of a visit to the baseline. Those of the others may have other paths.
    pub fn requests(&self) -> &[Request] {
        self.subjects.first().map_or(&[], |baseline| &baseline.requests)
    }

    /// The candidates whose verdicts end the comparison.
    pub(crate) fn judged(&self) -> Vec<&str> {
        match &self.candidate {
            Some(candidate) => vec![candidate],
            None => self.subjects.iter().skip(1).map(|subject| &*subject.name).collect(),
        }
    }

    /// The expected length of all runs and counts, up to the first look.
    pub fn length(&self) -> Duration {
        let has_rate = self.workload.arrivals_per_s.is_some();
        let runs = self.effort.length(self.subjects.len(), self.workload.load, has_rate);
        let counts = if self.counts_system_calls { self.subjects.len() as u32 } else { 0 };
        runs + COUNT * counts
    }

    /// The longest that all runs and counts may take.
    pub fn longest(&self) -> Duration {
        match self.effort.until {
            Until::Pairs(_) => self.length(),
            Until::Known { limit, .. } => {
                let rest = self.length().saturating_sub(self.first_look());
                limit + rest
            }
        }
    }

    /// The expected length of the pairs up to the first look.
    fn first_look(&self) -> Duration {
        let runs = self.effort.first_runs(self.subjects.len()) as u32;
        let run = if self.effort.decides_in_open_loop() {
            Effort { measurement: self.effort.open_loop, ..self.effort }.run()
        } else {
            self.closed_loop().run()
        };
        run * runs
    }

    /// This effort for the closed loop.
    pub(crate) fn closed_loop(&self) -> Effort {
        self.effort.closed_loop(self.workload.load)
    }
}

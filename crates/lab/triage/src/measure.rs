//! The measurement of a triage: one server keeps running, under one kind of load after the other.

mod allowed;
mod arrivals;
mod delays;
mod files;
mod level;
mod memory;
mod objective;
mod routes;
mod stages;

use std::{collections::BTreeMap, path::Path, time::Duration};

use lab_measure::{
    objective::search_takes,
    watch::{RandomArrivals, ServerUnderLoad},
};
use lab_observation::{Observation, Profiler, Recording, ThreadStates};
use lab_profile::Profilers;
use lab_protocol::{Note, NoteKind, Objective, Outcome, Request};
use lab_report::ObjectiveSearch;
use lab_servers::Running;
use lab_system::Progress;

pub use delays::{DELAYED, delayed};
pub use files::Files;
use level::LEVELS;
pub use level::{Level, cores};
use memory::MemoryLog;
#[cfg(test)]
pub use memory::MemoryLook;
pub use memory::{MemoryGrowth, MemoryHistory, MemoryVerdict};
pub use routes::LoadedRoute;
use stages::{Loaded, Profile, Stages};

pub use super::thresholds::WATCHED;

/// A server, its requests, and the tools to watch it.
#[derive(Debug)]
pub struct Triage<'a> {
    pub server: &'a ServerUnderLoad,
    /// The highest rate at which it holds is searched for.
    pub objective: Option<Objective>,
    pub profilers: &'a Profilers,
    pub scratch: &'a Path,
    pub progress: &'a Progress,
}

/// Everything that was measured. What the system does not show is absent.
#[derive(Debug)]
pub struct Measured {
    pub cores: usize,
    /// On how many of them the server's threads may run.
    pub allowed_cores: Option<usize>,
    /// Requests of a visit, which an outcome counts as one.
    pub requests: usize,
    pub levels: Vec<Level>,
    /// Connections that the system refused during all levels, because the accept queue was full.
    pub refused_connections: Option<u64>,
    /// An experiment at `WATCHED` users, if answers took as long as a delayed acknowledgement: by turns a client
    /// that acknowledges at once and, as its control, the usual one.
    pub quick_ack: Vec<[Outcome; 2]>,
    /// The result of random arrivals, which don't wait for each other.
    pub arrivals: Option<RandomArrivals>,
    /// Each request of a visit alone; empty if a visit has only one.
    pub routes: Vec<LoadedRoute>,
    pub objective: Option<ObjectiveSearch>,
    /// From the first load to the last.
    pub memory: MemoryHistory,
    /// The threads without load, and with `WATCHED` users.
    pub threads: Option<[ThreadStates; 2]>,
    pub outbound: Outbound,
    /// `EVENTS` per visit, with `WATCHED` users.
    pub counts: Option<CountsPerVisit>,
    /// Meanwhile.
    pub files: Files,
    pub profiler: Profiler,
    pub observation: Observation,
    pub notes: Vec<Note>,
}

/// How often each event occurs per visit.
pub type CountsPerVisit = BTreeMap<&'static str, f64>;

/// Connections to other servers, with `WATCHED` users.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outbound {
    pub connections: Option<usize>,
    /// Questions and answers per second, over connections that stay open.
    pub round_trips_per_s: Option<f64>,
    /// How many of them hold back a small write until an earlier one is acknowledged, on average.
    pub held_back: Option<f64>,
}

impl Measured {
    pub fn at(&self, users: usize) -> Option<&Outcome> {
        self.levels.iter().find(|level| level.users == users).map(|level| &level.outcome)
    }

    pub fn recording(&self) -> Option<&Recording> {
        self.observation.recording.as_ref()
    }
}

impl Triage<'_> {
    pub fn load() -> String {
        let [first, .., last] = LEVELS;
        format!("{first} to {last} users without a pause, {WATCHED} while recorded")
    }

    /// How long it takes about.
    pub fn length(&self) -> Duration {
        let objective = self.objective.map_or(Duration::ZERO, search_takes);
        stages::expected(self.server.visit_takes) + self.routes_take() + objective
    }

    /// Runs all stages against one server.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, may not be timed, or exits; or if its load fails.
    pub async fn run(&self) -> anyhow::Result<Measured> {
        let stages = Running::with(&self.server.launch, async |Running { server, .. }| {
            server.ensure_it_can_be_timed()?;
            let pid = server.studied_pid()?;
            let on = Loaded { triage: self, server, pid, memory: MemoryLog::begin(pid) };
            anyhow::Ok((on.stages().await?, server.is_own()))
        });
        let (stages, exits) = stages.await?;
        let Stages { climb, profile, counter, .. } = stages;
        let Profile { profiler, mut observation, mut notes } = profile;
        // `perf stat` reports when the server has exited.
        let counted = match counter {
            Ok(counting) => counting.per_visit(exits).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &counted {
            notes.push(NoteKind::NotCounted { why: format!("{error:#}") }.into());
        }
        let (counts, files) = counted.ok().unzip();
        observation.threads = climb.busy.clone();
        Ok(Measured {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            requests: Request::of_visit(&self.server.requests).len(),
            allowed_cores: climb.allowed_cores,
            levels: climb.levels,
            refused_connections: climb.refused_connections,
            quick_ack: stages.quick_ack,
            arrivals: stages.arrivals,
            routes: stages.routes,
            objective: stages.objective,
            memory: stages.history,
            threads: stages.idle.zip(climb.busy).map(|(idle, busy)| [idle, busy]),
            outbound: climb.outbound,
            counts,
            files: files.unwrap_or_default(),
            profiler,
            observation,
            notes,
        })
    }
}

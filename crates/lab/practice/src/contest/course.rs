//! The course of a contest: visits that a referee draws from a seed.

use std::time::Duration;

use anyhow::Context as _;
use lab_protocol::{OpenLoop, Request, Spacing, VisitKind};
use lab_servers::Scratch;
use lab_stats::SplitMix64;
use lab_system::Program;
use serde::Deserialize;

use super::Players;

/// How long the referee may take for anything.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// The most visits in flight.
const CONNECTIONS: usize = 384;

/// The course of a run: one level of load after the other.
#[derive(Debug, Deserialize)]
pub struct ContestCourse {
    /// Visits per second of the first level.
    pub first_per_s: f64,
    /// The most visits of a run.
    pub most_visits: f64,
    /// How long a level lasts.
    pub level_s: f64,
    /// During each level.
    #[serde(rename = "events")]
    pub disturbances: Vec<Disturbance>,
    pub visits: Vec<DrawnVisit>,
    /// Has the bodies of the requests.
    #[serde(skip)]
    _bodies: Option<Scratch>,
}

/// Something that happens to the service's companion, by a `POST` to `path`.
#[derive(Clone, Debug, Deserialize)]
pub struct Disturbance {
    pub at_s: f64,
    /// Until this time, a second right answer counts.
    pub until_s: f64,
    pub path: String,
}

/// A kind of visits.
#[derive(Debug, Deserialize)]
pub struct DrawnVisit {
    pub name: String,
    pub weight: f64,
    /// In 99 of 100 visits, the last answer has to come within this time.
    pub objective_ms: f64,
    /// The request of each that has to get the same answer after a restart.
    pub again: Option<usize>,
    /// How many of its answers have a number that the companion was asked for.
    pub stock_reads: u64,
    /// The reference that each visit reserves at the companion; an empty string reserves nothing.
    #[serde(default)]
    pub references: Vec<String>,
    pub alternatives: Vec<Vec<Request>>,
}

impl ContestCourse {
    /// Has the referee draw visits, and learn their right answers.
    pub(super) async fn draw(players: Players<'_>) -> anyhow::Result<Self> {
        let bodies = Scratch::new()?;
        let mut command = players.referee("course")?;
        command.args(["--seed", &players.data_seed.to_string(), "--bodies"]).arg(bodies.path());
        let printed = Program::new(command, PATIENCE).named("the referee").output().await?;
        let course: Self =
            serde_json::from_slice(&printed).context("the referee's course can't be read")?;
        Ok(Self { _bodies: Some(bodies), ..course })
    }

    /// The load of the nth level.
    pub(super) fn load(nth: usize, rate_per_s: f64, seed: u64) -> OpenLoop {
        let spacing = Spacing::Random { seed: SplitMix64(seed).seed_of(nth) };
        OpenLoop { spacing, ..OpenLoop::new(rate_per_s, CONNECTIONS) }
    }

    /// The visits, of each kind from the alternative on that comes next: none comes twice before all have come.
    pub(super) fn kinds(&self, taken: &[usize]) -> Vec<VisitKind> {
        let kind = |(visit, taken): (&DrawnVisit, &usize)| {
            let mut alternatives = visit.alternatives.clone();
            alternatives.rotate_left(taken % visit.alternatives.len());
            VisitKind { name: visit.name.clone(), weight: visit.weight, alternatives }
        };
        self.visits.iter().zip(taken).map(kind).collect()
    }

    /// Whether the companion may have been unable to answer a visit that was due at this time of a level.
    pub(super) fn is_disturbed(&self, due_s: f64) -> bool {
        // The load begins a moment after the clock of the disturbances, and a visit waits for its turn.
        self.disturbances
            .iter()
            .any(|disturbance| (disturbance.at_s - 0.5..disturbance.until_s + 0.5).contains(&due_s))
    }

    #[cfg(test)]
    pub(super) fn without_visits(first_per_s: f64, most_visits: f64, level_s: f64) -> Self {
        let (disturbances, visits, bodies) = (Vec::new(), Vec::new(), None);
        Self { first_per_s, most_visits, level_s, disturbances, visits, _bodies: bodies }
    }
}

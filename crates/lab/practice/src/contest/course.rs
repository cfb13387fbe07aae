//! What a contest asks of a service, as its referee draws it from a seed.

use std::{ops::Range, time::Duration};

use anyhow::Context as _;
use lab_model::{Ask, OpenLoop, Spacing, VisitKind};
use lab_servers::Scratch;
use lab_system::Program;
use serde::Deserialize;

use super::Players;

/// How long the referee may take for anything.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// So many visits can be in flight.
const CONNECTIONS: usize = 384;

/// The course of a run: the load rises until the service is overloaded, and then it stays at a share of that.
#[derive(Debug, Deserialize)]
pub struct ContestCourse {
    /// Visits per second at its begin.
    rate_per_s: f64,
    doubles_every_s: f64,
    pub rise_s: f64,
    /// The load doesn't rise any more when a visit has waited this long.
    pub behind_s: f64,
    /// Of the visits per second that the service has shown to manage.
    share: f64,
    most_per_s: f64,
    pub steady_s: f64,
    /// While the load is steady.
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
    /// Until then, a second right answer counts.
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
    /// What each of them reserves at the companion; empty strings reserve nothing.
    #[serde(default)]
    pub references: Vec<String>,
    pub alternatives: Vec<Vec<Ask>>,
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

    /// The load that rises.
    pub(super) fn rising(&self, seed: u64) -> OpenLoop {
        OpenLoop {
            doubles_every_s: Some(self.doubles_every_s),
            spacing: Spacing::Random { seed },
            ..OpenLoop::new(self.rate_per_s, CONNECTIONS)
        }
    }

    /// The rate at which a load that rises has this many visits behind it: what a service manages that has answered
    /// so many in time.
    pub(super) fn managed_per_s(&self, visits: usize) -> f64 {
        let load = self.rising(0);
        load.rate_after(load.time_of(visits as f64))
    }

    /// The load of a service that manages this many visits per second.
    pub(super) fn steady(&self, managed_per_s: f64, seed: u64) -> OpenLoop {
        let rate_per_s = (self.share * managed_per_s).min(self.most_per_s);
        OpenLoop { spacing: Spacing::Random { seed }, ..OpenLoop::new(rate_per_s, CONNECTIONS) }
    }

    /// The visits of one of the two parts of a run. No alternative is in both.
    pub(super) fn kinds(&self, part: LoadPart) -> Vec<VisitKind> {
        let kind = |it: &DrawnVisit| VisitKind {
            name: it.name.clone(),
            weight: it.weight,
            alternatives: it.alternatives[part.of(it)].to_vec(),
        };
        self.visits.iter().map(kind).collect()
    }

    /// Whether the companion may have been unable to answer a visit that was due at this time.
    pub(super) fn is_disturbed(&self, due_s: f64) -> bool {
        // The load begins a moment after the clock of the disturbances, and a visit waits for its turn.
        self.disturbances.iter().any(|it| (it.at_s - 0.5..it.until_s + 0.5).contains(&due_s))
    }
}

/// The parts of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum LoadPart {
    Rise,
    Steady,
}

impl LoadPart {
    /// The alternatives of a visit that belong to it.
    pub fn of(self, visit: &DrawnVisit) -> Range<usize> {
        let (half, all) = (visit.alternatives.len() / 2, visit.alternatives.len());
        match self {
            Self::Rise => 0..half,
            Self::Steady => half..all,
        }
    }
}

//! The runs of a search for the highest rate, as data, and why an objective did not hold in one.

use lab_protocol::Objective;
use lab_stats::{RateEnd, RateInterval};
use serde::Serialize;

/// A search for the highest rate of visits at which an objective holds.
#[derive(Clone, Debug)]
pub struct ObjectiveSearch {
    pub objective: Objective,
    /// The highest rate in the closed loop.
    pub peak_per_s: f64,
    /// In their order; empty if the server is too slow for a percentile.
    pub runs: Vec<RateRun>,
    pub connections: usize,
    pub found: RateInterval,
}

/// A run at one rate of visits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateRun {
    pub rate_per_s: f64,
    /// The percentile of the objective.
    pub latency_ms: Option<f64>,
    /// How many cores the server used.
    pub cores: Option<f64>,
    /// Why the objective did not hold; `None` if it did.
    pub shortfall: Option<Shortfall>,
}

/// Why an objective does not hold at a rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortfall {
    /// The percentile is not below the limit.
    Latency,
    /// It still is, but the queue grows.
    Backlog,
    /// Answers were wrong, failed, or never came.
    Faults,
    /// The load generator may have made the requests late.
    Generator,
    /// All connections were busy, and more of them would be served.
    Connections,
}

impl ObjectiveSearch {
    /// The last run at the rate that did not hold. Of several, one that counts: the generator's own disturbances don't.
    pub fn beyond(&self) -> Option<&RateRun> {
        let high = self.found.high?;
        let is_limit = |run: &&RateRun| (run.end() == RateEnd::Limited) == self.found.is_limited;
        self.runs.iter().filter(|run| run.rate_per_s == high).rfind(is_limit)
    }
}

impl RateRun {
    pub fn end(&self) -> RateEnd {
        match self.shortfall {
            None => RateEnd::Held,
            Some(Shortfall::Generator | Shortfall::Connections) => RateEnd::Limited,
            Some(Shortfall::Latency | Shortfall::Backlog | Shortfall::Faults) => RateEnd::Failed,
        }
    }
}

impl Shortfall {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Latency => "it is too slow",
            Self::Backlog => "the queue grows",
            Self::Faults => "answers are wrong or missing",
            Self::Generator => "the load generator is late",
            Self::Connections => "all connections are busy",
        }
    }
}

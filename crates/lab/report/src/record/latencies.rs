//! Latencies, and the open loop that they are from.

use lab_protocol::{ByPercentile, Invalid, Spacing};
use serde::{Deserialize, Serialize};

use super::RequestCounts;

/// Arrivals at a constant mean rate. Their latency starts when they are due.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OpenLoopRecord {
    /// Arrivals per second as planned. Random ones are a bit fewer or more: [`crate::CaseRecord::arrived_per_s`].
    pub rate_per_s: f64,
    /// Random or even, and the session's seed, from which each round of runs has its own ([`crate::Run::seed`]).
    pub spacing: Spacing,
    /// Includes the time in the arrival queue.
    pub latency_ms: Latencies,
    /// All arrivals that were due. Those that were unfinished are recorded with their age.
    #[serde(flatten)]
    pub requests: RequestCounts,
    /// Arrivals that found no free connection.
    pub queued: u64,
    /// The latencies of the requests that other clients sent meanwhile; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_ms: Option<Latencies>,
    /// How late the generator was, in milliseconds, for 99 % of the arrivals at most.
    pub lag_p99_ms: f64,
    /// Present if the generator was late in at least half of the runs. The latencies are then upper bounds.
    pub invalid: Option<Invalid>,
}

impl OpenLoopRecord {
    /// The latencies, as upper bounds if the generator was late.
    pub fn latencies(&self) -> Latencies {
        Latencies { at_most: self.invalid.is_some(), ..self.latency_ms }
    }
}

/// Percentiles of latency and its mean, in milliseconds. A percentile without ten samples beyond it is `None`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Latencies {
    #[serde(flatten)]
    pub by: ByPercentile<f64>,
    /// The mean, which most dashboards show. `None` in records from before November 28, 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The age of the youngest unfinished request. Percentiles from there on are lower bounds.
    pub exact_below: Option<f64>,
    /// Whether the generator's lag is much of them, so that each is an upper bound; see
    /// [`OpenLoopRecord::latencies`].
    #[serde(skip)]
    pub at_most: bool,
}

//! The figures of one server.

use std::collections::BTreeMap;

use lab_protocol::{BesidesCode, Limit, Metric, Speedups};
use serde::{Deserialize, Serialize};

use crate::Growth;

use super::{Latencies, OpenLoopRecord, RequestCounts, Run};

/// A variant over all its runs.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct VariantRecord {
    pub variant: String,
    /// The command, URL or revision that the user gave to `lab compare`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub given: String,
    /// A checksum of its program, for a comparison that goes on; `None` for one that cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<u32>,
    /// What its build differs in from the baseline's, besides its code; empty for the baseline.
    #[serde(default, skip_serializing_if = "BesidesCode::is_empty")]
    pub besides: BesidesCode,
    /// Right answers per second: the median run.
    pub throughput_rps: f64,
    pub latency_ms: Latencies,
    /// CPU time of the server per right answer, in microseconds: the median run.
    pub cpu_us_per_request: Option<f64>,
    /// Nanoseconds of an iteration of a benchmark: the median run; `None` for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    /// The server's peak memory in MiB: the largest of all runs.
    pub peak_rss_mib: Option<f64>,
    /// How its memory grew late in the runs; `None` if a run does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_growth: Option<Growth>,
    /// Share of one core that the generator used, from 0 to 1: the largest of all runs.
    pub generator_cpu: Option<f64>,
    /// Share of a run in which the generator waited for a core, from 0 to 1: the largest of all runs.
    pub generator_waited: Option<f64>,
    #[serde(flatten)]
    pub requests: RequestCounts,
    /// Connections that had to be opened again.
    pub reopened: u64,
    /// Why a run measured the generator instead of the server, if one did.
    pub generator_limited: Option<Limit>,
    /// How many runs did.
    pub limited_runs: usize,
    pub open_loop: Option<OpenLoopRecord>,
    /// The counts of one visit from the case's `counts.toml`; empty without one.
    pub exact: BTreeMap<String, f64>,
    /// Counts of one visit that differ from round to round: the fewest and the most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// This variant over the baseline; `None` for the baseline.
    pub speedup: Option<Speedups>,
}

impl VariantRecord {
    /// The figure of a metric: of the median run, or of all requests. A higher figure is better, so costs are inverted.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => Some(self.throughput_rps),
            Metric::Cpu => Some(1.0 / self.cpu_us_per_request?),
            Metric::PeakMemory => Some(1.0 / self.peak_rss_mib?),
            Metric::Time => Some(1.0 / self.time_ns?),
            Metric::Latency(at) => Some(1.0 / self.open_loop.as_ref()?.latency_ms.by.get(at)?),
        }
    }

    /// Whether the generator limited at least half of its runs. A single one is an outlier, which the
    /// interval tolerates.
    pub fn is_limited(&self, runs: &[Run]) -> bool {
        let runs = runs.iter().filter(|run| run.variant == self.variant).count();
        self.limited_runs > 0 && 2 * self.limited_runs >= runs
    }
}

//! The document that `lab bench --json` prints.

use std::collections::BTreeMap;

use lab_load::Outcome;
use lab_stats::{Speedup, Verdict};
use serde::{Deserialize, Serialize};

use super::{Build, Machine};

/// The version of the document's form. It changes when an older document can no longer be read.
pub const VERSION: u32 = 2;

/// One call of `lab bench` or `lab compare`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    pub version: u32,
    pub created: jiff::Timestamp,
    pub command: Vec<String>,
    /// Whether it was made with `--quick`.
    pub quick: bool,
    pub machine: Machine,
    pub build: Build,
    pub cases: Vec<CaseRecord>,
}

impl Record {
    /// A record of this process, made now and here, without cases yet.
    pub fn new(quick: bool, build: Build) -> Self {
        Self {
            version: VERSION,
            created: jiff::Timestamp::now(),
            command: std::env::args().collect(),
            quick,
            machine: Machine::here(),
            build,
            cases: Vec::new(),
        }
    }
}

/// The comparison of one case's variants.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CaseRecord {
    /// The name of the case; `compare` for a record of `lab compare`.
    pub case: String,
    /// The load in words.
    pub load: String,
    pub users: usize,
    /// Milliseconds that a user pauses between requests.
    pub think_ms: u64,
    pub pairs: usize,
    /// Seconds of load before each measurement.
    pub warm_up_s: f64,
    pub measurement_s: f64,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    pub verdict: Verdict,
    /// The rule that decided the verdict, in a sentence.
    pub reason: String,
    /// The baseline first.
    pub variants: Vec<VariantRecord>,
    /// The candidate over the baseline.
    pub speedup: Speedups,
    pub control: Control,
    /// The lowest throughput factor that the case promises.
    pub promised_throughput: Option<f64>,
    /// A note on the figures of the steps.
    pub steps_note: Option<String>,
    /// Every run of the closed loop, in the order in which they were made.
    pub runs: Vec<Run>,
    #[serde(default)]
    pub open_runs: Vec<Run>,
}

/// The baseline over itself: the noise floor of this machine.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Control {
    /// How many runs of the baseline followed another one.
    pub pairs: usize,
    /// Their factors: 1 plus noise.
    pub speedup: Speedups,
}

/// One variant over all its runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct VariantRecord {
    pub variant: String,
    /// Right answers per second: the median run.
    pub throughput_rps: f64,
    pub latency_ms: Latencies,
    /// CPU time of the server per right answer, in microseconds: the median run.
    pub cpu_us_per_request: Option<f64>,
    /// The server's peak memory in MiB: the largest of all runs.
    pub peak_rss_mib: Option<f64>,
    /// Share of one core that the generator used, from 0 to 1: the largest of all runs.
    pub generator_cpu: Option<f64>,
    /// All requests: `ok + wrong + failed + unfinished`.
    pub sent: u64,
    pub ok: u64,
    pub wrong: u64,
    /// Without an answer.
    pub failed: u64,
    /// Still waiting when the run ended.
    pub unfinished: u64,
    /// The first wrong or failed request, in words.
    pub first_fault: Option<String>,
    /// Why a run measured the generator instead of the server, if one did.
    pub generator_limited: Option<String>,
    pub open_loop: Option<OpenLoopRecord>,
    /// The counts of one visit from the case's `counts.toml`; empty without one.
    #[serde(default)]
    pub exact: BTreeMap<String, f64>,
    /// This variant over the baseline; `None` for the baseline.
    pub speedup: Option<Speedups>,
}

/// Arrivals at a constant rate. Their latency starts when they are due.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OpenLoopRecord {
    /// Arrivals per second, the same for all variants.
    pub rate_per_s: f64,
    /// Includes the time in the arrival queue.
    pub latency_ms: Latencies,
    /// All arrivals that were due: `ok + wrong + failed + unfinished`.
    pub offered: u64,
    pub ok: u64,
    pub wrong: u64,
    pub failed: u64,
    /// Arrivals that were still waiting when the run ended; recorded with their age.
    pub unfinished: u64,
    /// Arrivals that found no free connection.
    pub queued: u64,
    /// How late the generator was, in milliseconds, for 99 % of the arrivals at most.
    pub lag_p99_ms: f64,
    /// The first wrong or failed arrival, in words.
    pub first_fault: Option<String>,
    /// Why nobody should quote these latencies, if there is a reason.
    pub invalid: Option<String>,
}

/// Percentiles of latency in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Latencies {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    /// Whether the true percentiles are higher, because requests were unfinished.
    pub lower_bounds: bool,
}

/// Factors of a variant over the baseline; above 1 the variant is better.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Speedups {
    pub throughput: Option<Speedup>,
    pub cpu_per_request: Option<Speedup>,
    pub latency_p50: Option<Speedup>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    pub variant: String,
    /// The pair: two consecutive runs; `None` for the extra runs of the baseline that only the control uses.
    pub pair: Option<usize>,
    /// The system's load average just before the run.
    pub load_average: Option<f64>,
    pub outcome: Outcome,
}

impl CaseRecord {
    pub fn variant(&self, name: &str) -> Option<&VariantRecord> {
        self.variants.iter().find(|variant| variant.variant == name)
    }

    /// How far the baseline is from itself, in throughput or CPU time, whichever is more.
    pub fn worst_noise(&self) -> Option<Speedup> {
        let controls = [self.control.speedup.throughput, self.control.speedup.cpu_per_request];
        controls.into_iter().flatten().max_by(|one, other| one.reach().total_cmp(&other.reach()))
    }

    /// Whether every answer was right.
    pub fn is_clean(&self) -> bool {
        self.variants.iter().all(|variant| {
            let open_loop = variant.open_loop.as_ref().map_or(0, |it| it.wrong + it.failed);
            variant.wrong + variant.failed + open_loop == 0
        })
    }
}

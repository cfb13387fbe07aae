//! What a comparison leaves behind: the document that `lab bench --json` prints.

use std::collections::BTreeMap;

use lab_load::Outcome;
use lab_stats::{Speedup, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Machine};

/// The form of the document; another form gets another number.
pub const VERSION: u32 = 2;

/// One call of `lab bench`: a document that says all of itself.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Record {
    /// The form of this document.
    pub version: u32,
    /// When it was made.
    pub created: jiff::Timestamp,
    /// The command line that made it.
    pub command: Vec<String>,
    /// Whether this was a quick, rough look.
    pub quick: bool,
    /// Where it was made.
    pub machine: Machine,
    /// What was measured.
    pub build: Build,
    /// A record a case.
    pub cases: Vec<CaseRecord>,
}

/// The comparison of one case's variants.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct CaseRecord {
    /// The case.
    pub case: String,
    /// The load in words.
    pub load: String,
    /// How many users the load had.
    pub users: usize,
    /// Milliseconds that a user paused between requests.
    pub think_ms: u64,
    /// Pairs of runs.
    pub pairs: usize,
    /// Seconds of load before each run was measured.
    pub warm_up_s: f64,
    /// Seconds that each run was measured for.
    pub measurement_s: f64,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    /// What can be claimed of fixed against slow.
    pub verdict: Verdict,
    /// Which rule decided that, in a sentence.
    pub reason: String,
    /// A record a variant, slow first.
    pub variants: Vec<VariantRecord>,
    /// By how much fixed beats slow.
    pub speedup: Speedups,
    /// By how much slow beats itself: what this machine makes of no difference at all.
    pub control: Control,
    /// The least throughput factor that the case promises.
    pub promised_throughput: Option<f64>,
    /// What a reader has to know of the steps' figures.
    pub steps_note: Option<String>,
    /// Every single run, in the order in which they were made.
    pub runs: Vec<Run>,
    /// The runs of the open loop.
    #[serde(default)]
    pub open_runs: Vec<Run>,
}

/// The baseline against itself.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Control {
    /// How many pairs of the baseline's runs followed each other.
    pub pairs: usize,
    /// Their factors: 1, but for the noise.
    pub speedup: Speedups,
}

/// One variant over all its runs.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct VariantRecord {
    /// The variant.
    pub variant: String,
    /// Right answers per second: the median run.
    pub throughput_rps: f64,
    /// Latency over all runs.
    pub latency_ms: Latencies,
    /// CPU time of the server per right answer, in microseconds: the median run.
    pub cpu_us_per_request: Option<f64>,
    /// The most memory that a run's server held, in MiB.
    pub peak_rss_mib: Option<f64>,
    /// Share of one core that the generator used, from 0 to 1: the largest of all runs.
    pub generator_cpu: Option<f64>,
    /// Requests, over all runs; each is in just one of the next four.
    pub sent: u64,
    /// Right answers.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Requests that no answer came to.
    pub failed: u64,
    /// Requests that waited for their answer longer than the run lasted.
    pub unfinished: u64,
    /// The first wrong or failed request, in words.
    pub first_fault: Option<String>,
    /// Why a run showed the limits of the generator and not the server's, if one did.
    pub generator_limited: Option<String>,
    /// What arrivals at a constant rate suffered; none if there were none.
    pub open_loop: Option<OpenLoopRecord>,
    /// What one page costs, as the case's `counts.toml` has it; nothing for a server without one.
    #[serde(default)]
    pub exact: BTreeMap<String, f64>,
    /// By how much this variant beats slow; none for slow itself.
    pub speedup: Option<Speedups>,
}

/// Arrivals at a constant rate, whose latencies count from the moment they were due.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct OpenLoopRecord {
    /// Arrivals per second, the same for all variants.
    pub rate_per_s: f64,
    /// Latency, waiting for a free connection included.
    pub latency_ms: Latencies,
    /// Arrivals that were due; each is in just one of the next four.
    pub offered: u64,
    /// Right answers.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Arrivals that no answer came to.
    pub failed: u64,
    /// Arrivals without an answer when the run was over; recorded at their age.
    pub unfinished: u64,
    /// Arrivals that found no free connection.
    pub queued: u64,
    /// How late the generator itself was, in milliseconds, for all but 1 % of arrivals.
    pub lag_p99_ms: f64,
    /// The first wrong or failed arrival, in words.
    pub first_fault: Option<String>,
    /// Why these latencies must not be quoted, if they must not.
    pub invalid: Option<String>,
}

/// Percentiles of latency in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Latencies {
    /// Half of all requests took no longer.
    pub p50: f64,
    /// 90 % of all requests took no longer.
    pub p90: f64,
    /// 99 % of all requests took no longer.
    pub p99: f64,
    /// Whether these are lower bounds, because requests were unfinished when their age was noted.
    pub lower_bounds: bool,
}

/// Factors by which a variant beats slow.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Speedups {
    /// More answers per second.
    pub throughput: Option<Speedup>,
    /// Less CPU time per answer.
    pub cpu_per_request: Option<Speedup>,
    /// A shorter median latency.
    pub latency_p50: Option<Speedup>,
}

/// One run of one variant.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Run {
    /// The variant.
    pub variant: String,
    /// The round whose pairs it belongs to; none for a run that is there for the control alone.
    pub pair: Option<usize>,
    /// The system's load average just before it.
    pub load_average: Option<f64>,
    /// What was measured.
    pub outcome: Outcome,
}

impl CaseRecord {
    /// A variant's record.
    pub fn variant(&self, name: &str) -> Option<&VariantRecord> {
        self.variants.iter().find(|variant| variant.variant == name)
    }

    /// Whether every answer was right.
    pub fn is_clean(&self) -> bool {
        self.variants.iter().all(|variant| {
            let open_loop = variant.open_loop.as_ref().map_or(0, |it| it.wrong + it.failed);
            variant.wrong + variant.failed + open_loop == 0
        })
    }
}

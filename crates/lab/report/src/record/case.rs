//! The record of one comparison.

use std::collections::BTreeMap;

use lab_protocol::{Metric, Note, Reason, Speedups};
use lab_stats::Verdict;
use serde::{Deserialize, Serialize};

use super::{CaseName, RequestRecord, Run, VariantRecord};

/// The comparison of one case's variants.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CaseRecord {
    pub case: CaseName,
    /// The name of what a user of this case asks for again and again, such as `request`. A `page` may be several
    /// requests.
    pub visit: String,
    /// The load in words.
    pub load: String,
    pub users: usize,
    /// Milliseconds that a user pauses between requests.
    pub think_ms: u64,
    /// The number of pairs that the factors are from.
    pub pairs: usize,
    /// Whether the comparison looked at its figures several times, and stopped when they showed enough. Otherwise, the
    /// number of pairs was chosen before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// The seed of the order of the runs.
    pub seed: u64,
    /// In how many layouts of its code each server ran, in turn; `None` for the one that it was built
    /// with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<usize>,
    /// Seconds of load before each measurement.
    pub warm_up_s: f64,
    /// Notes from before the runs, on what limits the results.
    #[serde(rename = "caveats", default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    pub measurement_s: f64,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    /// The metric that the verdict is about, chosen before the runs.
    pub metric: Metric,
    pub verdict: Verdict,
    /// The rule that decided the verdict.
    pub reason: Reason,
    /// The baseline first.
    pub variants: Vec<VariantRecord>,
    /// The variant that the verdict is about. Others may be steps to it, or go further.
    pub candidate: String,
    /// How many candidates were judged together: the error rates hold for all of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub family: usize,
    /// The candidate over the baseline.
    pub speedup: Speedups,
    pub control: Control,
    /// The requests of a visit, in their order; empty if a visit has only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestRecord>,
    /// The lowest factor of `metric` that the case promises.
    pub promised: Option<f64>,
    /// A note on the figures of the steps.
    pub steps_note: Option<String>,
    /// Every run of the closed loop, in the order in which they were made.
    pub runs: Vec<Run>,
    pub open_runs: Vec<Run>,
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

/// The baseline over itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Control {
    /// How many runs of the baseline followed another one.
    pub pairs: usize,
    /// Their factors: each is 1 plus what the control is off by. Each metric has a control of its own.
    pub speedup: Speedups,
    /// The noise, by which two equal servers could differ, as a factor of at least 1, by the names of the fields in
    /// `speedup`; see [`CaseRecord::noise`].
    #[serde(default)]
    pub noise: BTreeMap<String, f64>,
}

impl CaseRecord {
    /// The noise of a metric, by which two equal servers could differ on that machine and with as many pairs, as a
    /// factor of at least 1: [`lab_stats::Speedup::noise`]. `None` if the metric has no factor or no control.
    pub fn noise(&self, metric: Metric) -> Option<f64> {
        Some(self.speedup.of(metric)?.noise(self.control.speedup.of(metric)?))
    }

    /// The noise of every metric that has one, by the name of its field.
    pub fn noises(&self) -> BTreeMap<String, f64> {
        let noise = |metric: Metric| Some((metric.field(), self.noise(metric)?));
        Metric::all().filter_map(noise).collect()
    }

    /// The name of a metric in a narrow column: `req/s`, or `pages/s` where a visit is a page.
    pub fn short(&self, metric: Metric) -> String {
        let is_request = self.visit == "request";
        match metric {
            Metric::Throughput if is_request => "req/s".to_owned(),
            Metric::Throughput => format!("{}s/s", self.visit),
            Metric::Cpu if is_request => "CPU/req".to_owned(),
            Metric::Cpu => format!("CPU/{}", self.visit),
            Metric::PeakMemory => "peak MiB".to_owned(),
            Metric::Time => "time".to_owned(),
            Metric::Latency(percentile) => percentile.name().to_owned(),
        }
    }

    pub fn variant(&self, name: &str) -> Option<&VariantRecord> {
        self.variants.iter().find(|variant| variant.variant == name)
    }

    /// The baseline and the variant that the verdict is about.
    pub fn sides(&self) -> Option<(&VariantRecord, &VariantRecord)> {
        let [baseline, others @ ..] = &self.variants[..] else { return None };
        let candidate = others.iter().find(|other| other.variant == self.candidate)?;
        Some((baseline, candidate))
    }

    /// The names of the baseline and of that variant.
    pub fn names(&self) -> [&str; 2] {
        let baseline = self.variants.first().map_or("", |baseline| &baseline.variant);
        [baseline, &self.candidate]
    }
}

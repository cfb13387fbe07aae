//! The metrics that a verdict can be about, and the factors of each metric.

use anyhow::Context as _;
use lab_stats::Speedup;
use serde::{Deserialize, Serialize};

use super::percentile::{ByPercentile, Percentile, factors};

/// Factors of a variant over the baseline; above 1 the variant is better. A metric that one run of
/// either side lacks has no factor, and neither has a latency that is only a lower bound in one run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Speedups {
    pub throughput: Option<Speedup>,
    pub cpu_per_request: Option<Speedup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<Speedup>,
    /// The factor of the time of a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Speedup>,
    /// Whether the latencies' factors are bounds, because the generator was late: the true factors are at
    /// least as far from 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latency_at_least: bool,
    /// Whether that of the throughput is a bound, because the generator limited the faster side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throughput_at_least: bool,
    /// Whether the latencies' factors that agree with that of the throughput are bounds, too: the latencies of the
    /// limited side include the generator's own time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed_latency_at_least: bool,
    #[serde(flatten, with = "factors")]
    pub latency: ByPercentile<Speedup>,
}

/// A figure that a verdict can be about. In JSON and as a flag: `throughput`, `cpu`, `peak-memory`, `latency-p999`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Metric {
    /// Right answers per second.
    #[default]
    Throughput,
    /// CPU time of the server per right answer.
    Cpu,
    /// The most memory that the server had at once.
    PeakMemory,
    Latency(Percentile),
    /// The time of an iteration of a benchmark.
    Time,
}

impl Metric {
    pub fn all() -> impl Iterator<Item = Self> {
        Self::of_servers().chain([Self::Time])
    }

    pub fn of_servers() -> impl Iterator<Item = Self> {
        let latencies = Percentile::all().filter(|percentile| percentile.metric().is_some());
        let others = [Self::Throughput, Self::Cpu, Self::PeakMemory];
        others.into_iter().chain(latencies.map(Self::Latency))
    }

    /// Whether it is lower where the load is: a generator or a quota that limits a server decides it.
    pub fn is_of_rate(self) -> bool {
        !matches!(self, Self::Cpu | Self::PeakMemory | Self::Time)
    }

    /// The name of its factor's field in [`Speedups`].
    pub fn field(self) -> String {
        match self {
            Self::Cpu => "cpu_per_request".to_owned(),
            metric => <&str>::from(metric).replace('-', "_"),
        }
    }

    /// The name in tables and sentences.
    pub fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Cpu => "CPU per request".to_owned(),
            Self::PeakMemory => "peak memory".to_owned(),
            Self::Time => "time".to_owned(),
            Self::Latency(percentile) => format!("{} latency", percentile.name()),
        }
    }
}

impl From<Metric> for &'static str {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::Throughput => "throughput",
            Metric::Cpu => "cpu",
            Metric::PeakMemory => "peak-memory",
            Metric::Time => "time",
            Metric::Latency(percentile) => percentile.metric().unwrap_or_default(),
        }
    }
}

impl TryFrom<String> for Metric {
    type Error = anyhow::Error;

    fn try_from(name: String) -> anyhow::Result<Self> {
        let found = Self::all().find(|metric| <&str>::from(*metric) == name);
        found.with_context(|| format!("`{name}` is not a metric"))
    }
}

impl Speedups {
    /// Whether the factor of this metric is a bound.
    pub fn is_bound(&self, metric: Metric) -> bool {
        match metric {
            Metric::Throughput => self.throughput_at_least,
            Metric::Latency(at) => {
                self.latency_at_least || self.closed_latency_at_least && self.agrees(at)
            }
            Metric::Cpu | Metric::PeakMemory | Metric::Time => false,
        }
    }

    /// Whether the intervals of a latency and of the throughput exclude 1 on the same side.
    fn agrees(&self, at: Percentile) -> bool {
        let sides = self.latency.get(at).zip(self.throughput.as_ref());
        sides.is_some_and(|(latency, throughput)| {
            latency.low > 1.0 && throughput.low > 1.0 || latency.high < 1.0 && throughput.high < 1.0
        })
    }

    pub fn of(&self, metric: Metric) -> Option<&Speedup> {
        match metric {
            Metric::Throughput => self.throughput.as_ref(),
            Metric::Cpu => self.cpu_per_request.as_ref(),
            Metric::PeakMemory => self.peak_memory.as_ref(),
            Metric::Time => self.time.as_ref(),
            Metric::Latency(percentile) => self.latency.get(percentile),
        }
    }
}

//! What a comparison leaves behind: the document that `lab bench --json` prints.

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use super::Effort;
use crate::{
    case::{BASELINE, CANDIDATE, Case},
    load::{Latency, Outcome},
    stats::{Speedup, median_of},
};

/// One call of `lab bench`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    /// The form of this document; another form gets another number.
    pub version: u32,
    /// When it was made.
    pub created: jiff::Timestamp,
    /// The command line that made it.
    pub command: Vec<String>,
    /// Cores of the machine that this process may use.
    pub cores: usize,
    /// Whether this was a quick, rough look.
    pub quick: bool,
    /// A record a case.
    pub cases: Vec<CaseRecord>,
}

/// The comparison of one case's variants.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// Seconds that each run was measured for.
    pub measurement_s: f64,
    /// A record a variant, slow first.
    pub variants: Vec<VariantRecord>,
    /// By how much fixed beats slow.
    pub speedup: Speedups,
    /// The least throughput factor that the case promises.
    pub promised_throughput: Option<f64>,
    /// Every single run, in the order in which they were made.
    pub runs: Vec<Run>,
}

/// One variant over all its runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// By how much this variant beats slow; none for slow itself.
    pub speedup: Option<Speedups>,
}

/// Percentiles of latency in milliseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Speedups {
    /// More answers per second.
    pub throughput: Option<Speedup>,
    /// Less CPU time per answer.
    pub cpu_per_request: Option<Speedup>,
    /// A shorter median latency.
    pub latency_p50: Option<Speedup>,
}

/// One run of one variant.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// The pair that it belongs to.
    pub pair: usize,
    /// The variant.
    pub variant: String,
    /// What was measured.
    pub outcome: Outcome,
}

impl CaseRecord {
    /// Sums up the runs of a case.
    pub fn new(
        case: &Case,
        variants: &[String],
        effort: Effort,
        runs: Vec<Run>,
    ) -> anyhow::Result<Self> {
        let variants: Vec<_> = variants
            .iter()
            .map(|variant| VariantRecord::new(variant, &runs))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            case: case.name.clone(),
            load: case.load_in_words(),
            users: case.load.users,
            think_ms: case.load.think_ms,
            pairs: effort.pairs,
            measurement_s: effort.measurement.as_secs_f64(),
            variants,
            speedup: Speedups::over_baseline(CANDIDATE, &runs),
            promised_throughput: case.promise.map(|promise| promise.throughput),
            runs,
        })
    }

    /// A variant's record.
    pub fn variant(&self, name: &str) -> Option<&VariantRecord> {
        self.variants.iter().find(|variant| variant.variant == name)
    }

    /// Whether every answer was right.
    pub fn is_clean(&self) -> bool {
        self.variants.iter().all(|variant| variant.wrong + variant.failed == 0)
    }
}

impl VariantRecord {
    fn new(variant: &str, runs: &[Run]) -> anyhow::Result<Self> {
        let outcomes: Vec<_> = of(variant, runs).map(|run| &run.outcome).collect();
        let mut latency = Latency::default();
        outcomes.iter().for_each(|outcome| latency.add(&outcome.latency));
        let sum = |count: fn(&Outcome) -> u64| -> u64 {
            outcomes.iter().map(|outcome| count(outcome)).sum()
        };
        let first_fault = outcomes.iter().find_map(|outcome| outcome.first_fault.clone());
        let ok = sum(|outcome| outcome.ok);
        ensure!(
            ok > 0,
            "{variant} gave no right answer: {}",
            first_fault.as_deref().unwrap_or("no request was answered within the run")
        );
        let percentile = |percent| latency.percentile_ms(percent).context("there are latencies");
        let p99 = percentile(99.0)?;
        let youngest = outcomes.iter().filter_map(|outcome| outcome.youngest_unfinished).min();
        Ok(Self {
            variant: variant.to_owned(),
            throughput_rps: median_of(outcomes.iter().map(|outcome| outcome.throughput()))
                .context("there is at least one run")?,
            latency_ms: Latencies {
                p50: percentile(50.0)?,
                p90: percentile(90.0)?,
                p99,
                lower_bounds: youngest.is_some_and(|age| age.as_secs_f64() * 1e3 < p99),
            },
            cpu_us_per_request: median_of(
                outcomes.iter().filter_map(|outcome| outcome.cpu_us_per_request()),
            ),
            peak_rss_mib: outcomes
                .iter()
                .filter_map(|outcome| outcome.server_peak_rss_mib)
                .max_by(f64::total_cmp),
            generator_cpu: outcomes
                .iter()
                .filter_map(|outcome| {
                    Some(outcome.generator_cpu?.as_secs_f64() / outcome.measured.as_secs_f64())
                })
                .max_by(f64::total_cmp),
            sent: sum(|outcome| outcome.sent),
            ok,
            wrong: sum(|outcome| outcome.wrong),
            failed: sum(|outcome| outcome.failed),
            unfinished: sum(|outcome| outcome.unfinished),
            first_fault,
            speedup: (variant != BASELINE).then(|| Speedups::over_baseline(variant, runs)),
        })
    }
}

impl Speedups {
    /// Of `variant` over slow, pair by pair.
    fn over_baseline(variant: &str, runs: &[Run]) -> Self {
        let ratios = |ratio: &dyn Fn(&Outcome, &Outcome) -> Option<f64>| {
            Speedup::of_pairs(of(variant, runs).filter_map(|candidate| {
                let baseline = of(BASELINE, runs).find(|run| run.pair == candidate.pair)?;
                ratio(&baseline.outcome, &candidate.outcome)
            }))
        };
        let p50 = |outcome: &Outcome| outcome.latency.percentile_ms(50.0);
        Self {
            throughput: ratios(&|slow, fixed| Some(fixed.throughput() / slow.throughput())),
            cpu_per_request: ratios(&|slow, fixed| {
                Some(slow.cpu_us_per_request()? / fixed.cpu_us_per_request()?)
            }),
            latency_p50: ratios(&|slow, fixed| Some(p50(slow)? / p50(fixed)?)),
        }
    }
}

fn of<'a>(variant: &'a str, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> {
    runs.iter().filter(move |run| run.variant == variant)
}

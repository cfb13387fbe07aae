//! What a comparison leaves behind: the document that `lab bench --json` prints.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, Effort, Slot, control_pairs};
use crate::{
    load::{Latency, Outcome},
    machine::{Build, Machine},
    stats::{Judgement, Speedup, Verdict, judge, median_of},
};

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

impl OpenLoopRecord {
    /// From the run of one server; nothing if no arrival was recorded.
    fn new(outcome: &Outcome) -> Option<Self> {
        let punctuality = outcome.punctuality.as_ref()?;
        Some(Self {
            rate_per_s: outcome.sent as f64 / outcome.measured.as_secs_f64(),
            latency_ms: Latencies::new(&outcome.latency, outcome.youngest_unfinished)?,
            offered: outcome.sent,
            ok: outcome.ok,
            wrong: outcome.wrong,
            failed: outcome.failed,
            unfinished: outcome.unfinished,
            queued: punctuality.queued,
            lag_p99_ms: punctuality.lag_p99_ms,
            first_fault: outcome.first_fault.clone(),
            invalid: outcome.invalid.clone(),
        })
    }
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

impl Latencies {
    /// From a histogram and the age of the youngest request that was unfinished; nothing if the
    /// histogram is empty.
    fn new(latency: &Latency, youngest_unfinished: Option<Duration>) -> Option<Self> {
        let p99 = latency.percentile_ms(99.0)?;
        Some(Self {
            p50: latency.percentile_ms(50.0)?,
            p90: latency.percentile_ms(90.0)?,
            p99,
            lower_bounds: youngest_unfinished.is_some_and(|age| age.as_secs_f64() * 1e3 < p99),
        })
    }
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
    /// Sums up the runs of a comparison; `candidate` is what the verdict is about.
    pub fn new(
        comparison: &Comparison,
        candidate: &str,
        effort: Effort,
        runs: Vec<Run>,
        open_runs: Vec<Run>,
    ) -> anyhow::Result<Self> {
        let (baseline, _) = comparison.subjects.first().context("there is a baseline")?;
        let variants = comparison.subjects.iter();
        let variants = variants.map(|(variant, _)| {
            let open_loop = of(variant, &open_runs).next().map(|run| &run.outcome);
            let open_loop = open_loop.and_then(OpenLoopRecord::new);
            Ok(VariantRecord { open_loop, ..VariantRecord::new(variant, baseline, &runs)? })
        });
        let speedup = Speedups::over(baseline, candidate, &runs);
        let control = Control::new(baseline, &runs);
        let judgement = speedup.judge(&control.speedup, effort.minimum_effect);
        Ok(Self {
            case: comparison.name.clone(),
            load: comparison.load_in_words(),
            users: comparison.load.users,
            think_ms: comparison.load.think_ms,
            pairs: effort.pairs,
            warm_up_s: effort.warm_up.as_secs_f64(),
            measurement_s: effort.measurement.as_secs_f64(),
            minimum_effect: effort.minimum_effect,
            verdict: judgement.verdict,
            reason: judgement.reason,
            variants: variants
                .collect::<anyhow::Result<_>>()
                .with_context(|| comparison.name.clone())?,
            speedup,
            control,
            promised_throughput: None,
            steps_note: None,
            runs,
            open_runs,
        })
    }

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

impl Control {
    fn new(baseline: &str, runs: &[Run]) -> Self {
        let slots: Vec<_> = runs
            .iter()
            .map(|run| Slot { subject: usize::from(run.variant != baseline), round: run.pair })
            .collect();
        let pairs = control_pairs(&slots);
        let outcomes = pairs.iter().map(|&(one, other)| (&runs[one].outcome, &runs[other].outcome));
        Self { pairs: pairs.len(), speedup: Speedups::of_pairs(outcomes) }
    }
}

impl VariantRecord {
    fn new(variant: &str, baseline: &str, runs: &[Run]) -> anyhow::Result<Self> {
        let outcomes: Vec<_> = of(variant, runs).map(|run| &run.outcome).collect();
        let mut latency = Latency::default();
        outcomes.iter().for_each(|outcome| latency.add(&outcome.latency));
        let sum = |count: fn(&Outcome) -> u64| -> u64 {
            outcomes.iter().map(|outcome| count(outcome)).sum()
        };
        let first_fault = outcomes.iter().find_map(|outcome| outcome.first_fault.clone());
        // A run without a figure has no ratio, and the pair that shows most would not count.
        ensure!(
            outcomes.iter().all(|outcome| outcome.ok_in_time > 0),
            "a run of {variant} had no right answer in time: {}",
            first_fault.as_deref().unwrap_or("give it longer with `--measurement`")
        );
        let youngest = outcomes.iter().filter_map(|outcome| outcome.youngest_unfinished).min();
        Ok(Self {
            variant: variant.to_owned(),
            throughput_rps: median_of(outcomes.iter().map(|outcome| outcome.throughput()))
                .context("there is at least one run")?,
            latency_ms: Latencies::new(&latency, youngest).context("there are latencies")?,
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
            ok: sum(|outcome| outcome.ok),
            wrong: sum(|outcome| outcome.wrong),
            failed: sum(|outcome| outcome.failed),
            unfinished: sum(|outcome| outcome.unfinished),
            first_fault,
            generator_limited: outcomes.iter().find_map(|outcome| outcome.limited_by_generator()),
            open_loop: None,
            exact: BTreeMap::new(),
            speedup: (variant != baseline).then(|| Speedups::over(baseline, variant, runs)),
        })
    }
}

impl Speedups {
    /// Of one variant over another, round by round.
    fn over(baseline: &str, candidate: &str, runs: &[Run]) -> Self {
        let rounds = of(candidate, runs).filter(|run| run.pair.is_some());
        Self::of_pairs(rounds.filter_map(|candidate| {
            let baseline = of(baseline, runs).find(|run| run.pair == candidate.pair)?;
            Some((&baseline.outcome, &candidate.outcome))
        }))
    }

    /// From pairs of a baseline's and a candidate's outcome.
    fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a Outcome, &'a Outcome)> + Clone) -> Self {
        let p50 = |outcome: &Outcome| outcome.latency.percentile_ms(50.0);
        Self {
            throughput: Speedup::of_pairs(
                pairs.clone().map(|(slow, fixed)| fixed.throughput() / slow.throughput()),
            ),
            cpu_per_request: Speedup::of_pairs(pairs.clone().filter_map(|(slow, fixed)| {
                Some(slow.cpu_us_per_request()? / fixed.cpu_us_per_request()?)
            })),
            latency_p50: Speedup::of_pairs(
                pairs.filter_map(|(slow, fixed)| Some(p50(slow)? / p50(fixed)?)),
            ),
        }
    }

    /// What can be claimed, by the two metrics that are claims: throughput and CPU per request.
    ///
    /// A server may answer no faster and still need less CPU for it, or the other way round; so one
    /// decisive metric is enough. Where the two contradict each other, throughput decides, as it is
    /// what users notice.
    fn judge(&self, control: &Self, minimum_effect: f64) -> Judgement {
        let judge = |metric: &str, found: Option<&Speedup>, control: Option<&Speedup>| {
            let judgement = judge(found, control, minimum_effect);
            Judgement { reason: format!("{metric}: {}", judgement.reason), ..judgement }
        };
        let throughput = judge("throughput", self.throughput.as_ref(), control.throughput.as_ref());
        let cpu = judge(
            "CPU per request",
            self.cpu_per_request.as_ref(),
            control.cpu_per_request.as_ref(),
        );
        let is_decisive = |it: &Judgement| matches!(it.verdict, Verdict::Faster | Verdict::Slower);
        if is_decisive(&cpu) && !is_decisive(&throughput) { cpu } else { throughput }
    }
}

fn of<'a>(variant: &'a str, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> + Clone {
    runs.iter().filter(move |run| run.variant == variant)
}

//! From runs to a record: medians, ratios of pairs, and the verdict on them.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, ensure};
use lab_load::{Latency, Outcome};
use lab_record::{CaseRecord, Control, Latencies, OpenLoopRecord, Run, Speedups, VariantRecord};
use lab_stats::{Judgement, Slot, Speedup, Verdict, control_pairs, judge, median_of};

use super::{Comparison, Effort, Progress};

impl Comparison {
    /// Measures all servers, in the closed loop and then in the open one. The verdict is about
    /// `candidate`.
    pub async fn record(
        &self,
        candidate: &str,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<CaseRecord> {
        let runs = self.measure(effort, progress).await?;
        let open_runs = match effort.open_loop.is_zero() {
            true => Vec::new(),
            false => self.measure_open_loop(&runs, effort, progress).await?,
        };
        case_record(self, candidate, effort, runs, open_runs)
    }
}

/// Summarizes the runs of a comparison.
fn case_record(
    comparison: &Comparison,
    candidate: &str,
    effort: Effort,
    runs: Vec<Run>,
    open_runs: Vec<Run>,
) -> anyhow::Result<CaseRecord> {
    let (baseline, _) = comparison.subjects.first().context("there is a baseline")?;
    let variants = comparison.subjects.iter();
    let variants = variants.map(|(variant, _)| {
        let run = of(variant, &open_runs).next();
        let open_loop = run.and_then(|run| open_loop(&run.outcome));
        Ok(VariantRecord { open_loop, ..variant_record(variant, baseline, &runs)? })
    });
    let speedup = over(baseline, candidate, &runs);
    let control = control_of(baseline, &runs);
    let judgement = judge_both(&speedup, &control.speedup, effort.minimum_effect);
    Ok(CaseRecord {
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

fn control_of(baseline: &str, runs: &[Run]) -> Control {
    let slots: Vec<_> = runs
        .iter()
        .map(|run| Slot { subject: usize::from(run.variant != baseline), pair: run.pair })
        .collect();
    let pairs = control_pairs(&slots);
    let outcomes = pairs.iter().map(|&(one, other)| (&runs[one].outcome, &runs[other].outcome));
    Control { pairs: pairs.len(), speedup: of_pairs(outcomes) }
}

fn variant_record(variant: &str, baseline: &str, runs: &[Run]) -> anyhow::Result<VariantRecord> {
    let outcomes: Vec<_> = of(variant, runs).map(|run| &run.outcome).collect();
    let mut latency = Latency::default();
    outcomes.iter().for_each(|outcome| latency.add(&outcome.latency));
    let sum =
        |count: fn(&Outcome) -> u64| -> u64 { outcomes.iter().map(|outcome| count(outcome)).sum() };
    let first_fault = outcomes.iter().find_map(|outcome| outcome.first_fault.clone());
    // A run without a right answer has no ratio, so its pair would not count although it shows most.
    ensure!(
        outcomes.iter().all(|outcome| outcome.ok_in_time > 0),
        "a run of {variant} had no right answer in time: {}",
        first_fault.as_deref().unwrap_or("give it longer with `--measurement`")
    );
    let youngest = outcomes.iter().filter_map(|outcome| outcome.youngest_unfinished).min();
    Ok(VariantRecord {
        variant: variant.to_owned(),
        throughput_rps: median_of(outcomes.iter().map(|outcome| outcome.throughput()))
            .context("there is at least one run")?,
        latency_ms: latencies(&latency, youngest).context("there are latencies")?,
        cpu_us_per_request: median_of(
            outcomes.iter().filter_map(|outcome| outcome.cpu_us_per_request()),
        ),
        peak_rss_mib: outcomes
            .iter()
            .filter_map(|outcome| outcome.server_peak_rss_mib)
            .max_by(f64::total_cmp),
        generator_cpu: outcomes
            .iter()
            .filter_map(|outcome| outcome.generator_share())
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
        speedup: (variant != baseline).then(|| over(baseline, variant, runs)),
    })
}

/// `None` if no arrival was recorded.
fn open_loop(outcome: &Outcome) -> Option<OpenLoopRecord> {
    let punctuality = outcome.punctuality.as_ref()?;
    Some(OpenLoopRecord {
        rate_per_s: outcome.sent as f64 / outcome.measured.as_secs_f64(),
        latency_ms: latencies(&outcome.latency, outcome.youngest_unfinished)?,
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

/// Percentiles; `None` if the histogram is empty.
fn latencies(latency: &Latency, youngest_unfinished: Option<Duration>) -> Option<Latencies> {
    let p99 = latency.percentile_ms(99.0)?;
    Some(Latencies {
        p50: latency.percentile_ms(50.0)?,
        p90: latency.percentile_ms(90.0)?,
        p99,
        lower_bounds: youngest_unfinished.is_some_and(|age| age.as_secs_f64() * 1e3 < p99),
    })
}

/// The speedup of one variant over another, pair by pair.
fn over(baseline: &str, candidate: &str, runs: &[Run]) -> Speedups {
    let in_pairs = of(candidate, runs).filter(|run| run.pair.is_some());
    of_pairs(in_pairs.filter_map(|candidate| {
        let baseline = of(baseline, runs).find(|run| run.pair == candidate.pair)?;
        Some((&baseline.outcome, &candidate.outcome))
    }))
}

/// From pairs of a baseline's and a candidate's outcome.
fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a Outcome, &'a Outcome)> + Clone) -> Speedups {
    let p50 = |outcome: &Outcome| outcome.latency.percentile_ms(50.0);
    Speedups {
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

/// The verdict on throughput and CPU per request.
///
/// One decisive metric is enough: a server can be just as fast with less CPU, or faster with the same
/// CPU. If the two contradict each other, throughput decides, because users notice it.
fn judge_both(found: &Speedups, control: &Speedups, minimum_effect: f64) -> Judgement {
    let judge = |metric: &str, found: Option<&Speedup>, control: Option<&Speedup>| {
        let judgement = judge(found, control, minimum_effect);
        Judgement { reason: format!("{metric}: {}", judgement.reason), ..judgement }
    };
    let throughput = judge("throughput", found.throughput.as_ref(), control.throughput.as_ref());
    let cpu =
        judge("CPU per request", found.cpu_per_request.as_ref(), control.cpu_per_request.as_ref());
    let is_decisive = |it: &Judgement| matches!(it.verdict, Verdict::Faster | Verdict::Slower);
    if is_decisive(&cpu) && !is_decisive(&throughput) { cpu } else { throughput }
}

fn of<'a>(variant: &'a str, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> + Clone {
    runs.iter().filter(move |run| run.variant == variant)
}

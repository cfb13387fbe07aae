//! From runs to a record: medians, ratios of pairs, and the verdict on them.

use anyhow::Context as _;
use lab_model::{ByPercentile, Latency, Metric, OpenLoop, Outcome, Reason, Speedups};
use lab_report::{
    CaseRecord, Control, Latencies, OpenLoopRecord, RequestCounts, Run, VariantRecord,
};
use lab_servers::Subject;
use lab_stats::{Verdict, median_of};

use super::{
    Comparison, Effort,
    ratios::{control, control_pairs_of, is_late, outcomes_of, over},
};
use lab_system::Progress;

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
        // Without an answer there is no rate for the arrivals.
        let capacity = self.arrivals_per_s.or_else(|| self.slowest_capacity(&runs));
        let capacity = capacity.filter(|_| !effort.open_loop.is_zero());
        let open = capacity.map(|capacity| self.open_loop(capacity, effort.spacing));
        let open_runs = match open {
            None => Vec::new(),
            Some(open) => self.measure_open_loop(open, effort, progress).await?,
        };
        // Where the open loop ran in pairs, the latencies are its own.
        let paired = open.filter(|_| effort.decides_in_open_loop()).map(|_| &open_runs);
        let speedups = |of: &dyn Fn(&[Run]) -> Speedups| match paired {
            Some(paired) => {
                let Speedups { latency, latency_at_least, .. } = of(paired);
                Speedups { latency, latency_at_least, ..of(&runs) }
            }
            None => of(&runs),
        };
        let baseline = &self.subjects.first().context("there is a baseline")?.name;
        let over_baseline = |variant: &str| speedups(&|runs| over(baseline, variant, runs));
        let mut variants = Vec::new();
        for Subject { name: variant, .. } in &self.subjects {
            let outcomes = outcomes_of(variant, &open_runs);
            let exact = self.exact.of(variant).into_iter();
            variants.push(VariantRecord {
                exact: exact.map(|(name, count)| (name, count as f64)).collect(),
                open_loop: open.and_then(|open| open_loop(open, &outcomes)),
                speedup: (variant != baseline).then(|| over_baseline(variant)),
                ..variant_record(variant, &runs).with_context(|| self.name.clone())?
            });
        }
        let load = self.describe_load();
        let engine = runs.iter().find_map(|run| run.outcome.engine.as_ref());
        let mut record = CaseRecord {
            case: self.name.clone(),
            visit: self.visit.clone(),
            load: engine.map_or(load.clone(), |engine| format!("{load}, by {engine}")),
            users: self.load.users,
            think_ms: self.load.think_ms,
            pairs: effort.pairs,
            seed: Some(effort.seed),
            layouts: self
                .subjects
                .first()
                .map(|it| it.layouts.len())
                .filter(|layouts| *layouts > 0),
            warm_up_s: self.closed_loop(effort).warm_up.as_secs_f64(),
            notes: self.notes().to_vec(),
            measurement_s: effort.measurement.as_secs_f64(),
            minimum_effect: effort.minimum_effect,
            metric: effort.metric,
            variants,
            candidate: Some(candidate.to_owned()),
            speedup: over_baseline(candidate),
            control: Control {
                pairs: control_pairs_of(baseline, paired.unwrap_or(&runs)).len(),
                speedup: speedups(&|runs| control(baseline, runs)),
            },
            promised: self.promise.filter(|it| it.metric == effort.metric).map(|it| it.factor),
            steps_note: self.steps_note.clone(),
            runs,
            open_runs,
            ..CaseRecord::default()
        };
        (record.verdict, record.reason) = verdict(&record, candidate);
        Ok(record)
    }
}

/// The verdict on the metric that was chosen before the runs, unless these runs cannot have one.
fn verdict(record: &CaseRecord, candidate: &str) -> (Verdict, Reason) {
    let undecided = |reason| (Verdict::Undecided, reason);
    if record.has_faults() {
        return undecided(Reason::Unclean);
    }
    if !record.is_clean() {
        return undecided(Reason::EmptyRuns { measurement_s: record.long_enough_s() });
    }
    // CPU time is the server's own, whatever the generator does.
    let sides = record.variants.iter().take(1).chain(record.variant(candidate));
    let is_closed = match record.metric {
        Metric::Throughput => true,
        Metric::Cpu => false,
        Metric::Latency(_) => record.open_runs.is_empty(),
    };
    let limited = sides.filter(|it| is_closed && it.is_limited(&record.runs));
    let variants: Vec<_> = limited.map(|it| it.variant.clone()).collect();
    if !variants.is_empty() {
        return undecided(Reason::GeneratorDecides { variants });
    }
    let stopped = record.throttled_side().filter(|_| record.metric != Metric::Cpu);
    if let Some((variant, share)) = stopped {
        return undecided(Reason::SideThrottled { variant, share });
    }
    if let Some((variant, share)) = record.standstill_side().filter(|_| is_closed) {
        return undecided(Reason::StandstillDecides { variant, share });
    }
    let is_known = record.speedup.of(record.metric).is_some();
    match record.metric {
        Metric::Cpu if !is_known => undecided(Reason::CpuUnknown),
        Metric::Latency(_) if !is_known && !record.speedup.latency_at_least => {
            undecided(Reason::PercentileUnknown)
        }
        metric => record.judged_by(metric),
    }
}

/// A variant in the closed loop alone.
fn variant_record(variant: &str, runs: &[Run]) -> anyhow::Result<VariantRecord> {
    let outcomes = outcomes_of(variant, runs);
    let most = |figure: fn(&Outcome) -> Option<f64>| {
        outcomes.iter().filter_map(|outcome| figure(outcome)).max_by(f64::total_cmp)
    };
    let mut limits = outcomes.iter().filter_map(|outcome| outcome.limited_by_generator());
    let generator_limited = limits.next();
    Ok(VariantRecord {
        variant: variant.to_owned(),
        throughput_rps: median_of(outcomes.iter().map(|outcome| outcome.throughput()))
            .context("there is at least one run")?,
        latency_ms: latencies(&outcomes),
        cpu_us_per_request: median_of(
            outcomes.iter().filter_map(|outcome| outcome.cpu_us_per_request()),
        ),
        peak_rss_mib: most(|outcome| outcome.server_peak_rss_mib),
        generator_cpu: most(Outcome::generator_share),
        generator_waited: most(Outcome::generator_waited_share),
        requests: requests(&outcomes),
        reopened: outcomes.iter().map(|outcome| outcome.reopened).sum(),
        limited_runs: usize::from(generator_limited.is_some()) + limits.count(),
        generator_limited,
        ..VariantRecord::default()
    })
}

/// All runs of a variant in the open loop; `None` without one.
fn open_loop(open_loop: OpenLoop, outcomes: &[&Outcome]) -> Option<OpenLoopRecord> {
    let punctuality = || outcomes.iter().filter_map(|outcome| outcome.punctuality.as_ref());
    Some(OpenLoopRecord {
        rate_per_s: open_loop.rate_per_s,
        spacing: open_loop.spacing,
        latency_ms: latencies(outcomes),
        requests: requests(outcomes),
        background_ms: background(outcomes),
        queued: punctuality().map(|it| it.queued).sum(),
        lag_p99_ms: punctuality().map(|it| it.lag_p99_ms).max_by(f64::total_cmp)?,
        invalid: is_late(outcomes)
            .then(|| outcomes.iter().find_map(|outcome| outcome.invalid.clone()))
            .flatten(),
    })
}

fn requests(outcomes: &[&Outcome]) -> RequestCounts {
    let mut requests = RequestCounts::default();
    outcomes.iter().for_each(|outcome| requests.add(outcome));
    requests
}

/// The percentiles of all runs together.
fn latencies(outcomes: &[&Outcome]) -> Latencies {
    let youngest = outcomes.iter().filter_map(|outcome| outcome.youngest_unfinished).min();
    Latencies {
        by: percentiles(outcomes.iter().map(|outcome| &outcome.latency)),
        exact_below: youngest.map(|age| age.as_secs_f64() * 1e3),
        at_most: false,
    }
}

/// The same of what other clients sent.
fn background(outcomes: &[&Outcome]) -> Option<Latencies> {
    let all = outcomes.iter().map(|outcome| &outcome.background_latency);
    let has_any = all.clone().any(|latency| !latency.is_empty());
    has_any.then(|| Latencies { by: percentiles(all), ..Latencies::default() })
}

fn percentiles<'a>(runs: impl Iterator<Item = &'a Latency>) -> ByPercentile<f64> {
    let mut latency = Latency::default();
    runs.for_each(|run| latency.add(run));
    ByPercentile::of(|at| latency.percentile_ms(at.percent()))
}

//! From runs to a record: medians, ratios of pairs, and the verdict on them.

use anyhow::Context as _;
use lab_model::{ByPercentile, Latency, Metric, OpenLoop, Outcome, Reason, Speedups};
use lab_report::{
    CaseRecord, Control, Latencies, OpenLoopRecord, RequestCounts, Run, VariantRecord, growth,
};
use lab_servers::Subject;
use lab_stats::{Verdict, median_of};

use super::{
    Comparison, Effort,
    ratios::{control, control_pairs_of, is_late, of_sides, outcomes_of, over},
};
use lab_system::Progress;

/// All runs of a comparison.
struct AllRuns {
    closed: Vec<Run>,
    /// The arrivals of the open loop; `None` without one.
    arrivals: Option<OpenLoop>,
    open: Vec<Run>,
    /// Whether the latencies that have factors are those of the open loop, because it ran in pairs.
    is_open_in_pairs: bool,
}

impl AllRuns {
    /// The factors that `of` takes from runs of one loop, each from the loop that ran in pairs.
    fn speedups(&self, of: impl Fn(&[Run]) -> Speedups) -> Speedups {
        let closed = of(&self.closed);
        if !self.is_open_in_pairs {
            return closed;
        }
        let Speedups { latency, latency_at_least, .. } = of(&self.open);
        Speedups { latency, latency_at_least, ..closed }
    }

    fn control(&self, baseline: &str) -> Control {
        let runs = if self.is_open_in_pairs { &self.open } else { &self.closed };
        Control {
            pairs: control_pairs_of(baseline, runs).len(),
            speedup: self.speedups(|runs| control(baseline, runs)),
            ..Control::default()
        }
    }

    fn of_sides(&self, sides: [&str; 2]) -> Self {
        let [closed, open] = [&self.closed, &self.open].map(|runs| of_sides(sides, runs));
        Self { closed, open, ..*self }
    }
}

impl Comparison {
    /// Measures all servers, in the closed loop and then in the open one. The verdict is about
    /// `candidate`.
    pub async fn record(
        &self,
        candidate: &str,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<CaseRecord> {
        let measured = self.measure_all(effort, progress).await?;
        let baseline = self.subjects.first().context("there is a baseline")?;
        let control = measured.control(&baseline.name);
        self.assess(candidate, &self.subjects, measured, control, effort)
    }

    /// The same with a record for each candidate, of its own runs and those of the baseline that they are paired with.
    /// The error rates of their verdicts hold for all of them together.
    pub async fn records(
        &self,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<CaseRecord>> {
        let measured = self.measure_all(effort, progress).await?;
        let (baseline, candidates) = self.subjects.split_first().context("there is a baseline")?;
        // Of the whole session: its runs are as far apart as those of a pair.
        let control = measured.control(&baseline.name);
        let effort = Effort { family: candidates.len(), ..effort };
        let record = |candidate: &Subject| {
            let own = measured.of_sides([&baseline.name, &candidate.name]);
            let sides = [baseline.clone(), candidate.clone()];
            let mut record = self.assess(&candidate.name, &sides, own, control.clone(), effort)?;
            if candidates.len() > 1 {
                record.case = candidate.name.as_str().into();
            }
            Ok(record)
        };
        candidates.iter().map(record).collect()
    }

    async fn measure_all(&self, effort: Effort, progress: &Progress) -> anyhow::Result<AllRuns> {
        let closed = self.measure(effort, progress).await?;
        // Without an answer there is no rate for the arrivals.
        let capacity = self.arrivals_per_s.or_else(|| self.slowest_capacity(&closed));
        let capacity = capacity.filter(|_| !effort.open_loop.is_zero());
        let arrivals = capacity.map(|capacity| self.open_loop(capacity, effort.spacing));
        let open = match arrivals {
            None => Vec::new(),
            Some(open) => self.measure_open_loop(open, effort, progress).await?,
        };
        let is_open_in_pairs = arrivals.is_some() && effort.decides_in_open_loop();
        Ok(AllRuns { closed, arrivals, open, is_open_in_pairs })
    }

    fn assess(
        &self,
        candidate: &str,
        subjects: &[Subject],
        measured: AllRuns,
        control: Control,
        effort: Effort,
    ) -> anyhow::Result<CaseRecord> {
        let baseline = &subjects.first().context("there is a baseline")?.name;
        let over_baseline =
            |variant: &str| measured.speedups(|runs| over(baseline, variant, runs, effort.family));
        let AllRuns { closed: runs, arrivals: open, open: open_runs, .. } = &measured;
        let mut variants = Vec::new();
        for Subject { name: variant, given, .. } in subjects {
            let outcomes = outcomes_of(variant, open_runs);
            let exact = self.exact.of(variant).into_iter();
            variants.push(VariantRecord {
                given: given.clone(),
                exact: exact.map(|(name, count)| (name, count as f64)).collect(),
                open_loop: open.and_then(|open| open_loop(open, &outcomes)),
                speedup: (variant != baseline).then(|| over_baseline(variant)),
                ..variant_record(variant, runs).with_context(|| self.name.clone())?
            });
        }
        let load = self.describe_load();
        let engine = runs.iter().find_map(|run| run.outcome.engine.as_ref());
        let mut record = CaseRecord {
            case: self.name.as_str().into(),
            visit: self.visit.clone(),
            load: engine.map_or(load.clone(), |engine| format!("{load}, by {engine}")),
            users: self.load.users,
            think_ms: self.load.think_ms,
            pairs: effort.pairs,
            seed: effort.seed,
            layouts: subjects.first().map(|it| it.layouts.len()).filter(|layouts| *layouts > 0),
            warm_up_s: self.closed_loop(effort).warm_up.as_secs_f64(),
            notes: self.notes().to_vec(),
            measurement_s: effort.measurement.as_secs_f64(),
            minimum_effect: effort.minimum_effect,
            metric: effort.metric,
            variants,
            candidate: candidate.to_owned(),
            family: effort.family,
            speedup: over_baseline(candidate),
            control,
            promised: self.promise.filter(|it| it.metric == effort.metric).map(|it| it.factor),
            steps_note: self.steps_note.clone(),
            runs: measured.closed,
            open_runs: measured.open,
            ..CaseRecord::default()
        };
        record.bound_by_generator();
        record.control.noise = record.noises();
        (record.verdict, record.reason) = verdict(&record, candidate);
        Ok(record)
    }
}

/// The verdict on the metric that was chosen before the runs, unless these runs cannot have one.
pub fn verdict(record: &CaseRecord, candidate: &str) -> (Verdict, Reason) {
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
        Metric::Cpu | Metric::PeakMemory | Metric::Time => false,
        Metric::Latency(_) => record.open_runs.is_empty(),
    };
    let limited = sides.filter(|it| is_closed && it.is_limited(&record.runs));
    let variants: Vec<_> = limited.map(|it| it.variant.clone()).collect();
    let is_bound = record.speedup.is_bound(record.metric)
        && record.judged_by(record.metric).0.direction() != 0;
    if !variants.is_empty() && !is_bound {
        return undecided(Reason::GeneratorDecides { variants });
    }
    let stopped = record.throttled_side().filter(|_| record.metric.is_of_rate());
    if let Some((variant, share)) = stopped {
        return undecided(Reason::SideThrottled { variant, share });
    }
    if let Some((variant, share)) = record.standstill_side().filter(|_| is_closed) {
        return undecided(Reason::StandstillDecides { variant, share });
    }
    let is_known = record.speedup.of(record.metric).is_some();
    match record.metric {
        Metric::Cpu if !is_known => undecided(Reason::CpuUnknown),
        Metric::PeakMemory if !is_known => undecided(Reason::MemoryUnknown),
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
        memory_growth: growth(outcomes.iter().copied()),
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

/// The latencies of all runs together.
fn latencies(outcomes: &[&Outcome]) -> Latencies {
    let youngest = outcomes.iter().filter_map(|outcome| outcome.youngest_unfinished).min();
    Latencies {
        exact_below: youngest.map(|age| age.as_secs_f64() * 1e3),
        ..of_all(outcomes.iter().map(|outcome| &outcome.latency))
    }
}

/// The same of what other clients sent.
fn background(outcomes: &[&Outcome]) -> Option<Latencies> {
    let all = outcomes.iter().map(|outcome| &outcome.background_latency);
    let has_any = all.clone().any(|latency| !latency.is_empty());
    has_any.then(|| of_all(all))
}

/// All requests of these runs together.
fn of_all<'a>(runs: impl Iterator<Item = &'a Latency>) -> Latencies {
    let mut latency = Latency::default();
    runs.for_each(|run| latency.add(run));
    let by = ByPercentile::of(|at| latency.percentile_ms(at.percent()));
    Latencies { by, mean: latency.mean_ms(), ..Latencies::default() }
}

#[cfg(test)]
mod tests {
    use lab_report::Record;

    use super::*;

    #[test]
    fn a_generator_that_limits_the_faster_side_leaves_the_verdict() {
        let record = include_str!("../../../report/tests/fixtures/record.json");
        let case = serde_json::from_str::<Record>(record).unwrap().cases.remove(0);
        let [baseline, candidate] = case.names().map(str::to_owned);
        let judged = |limited: &[&String]| {
            let mut case = case.clone();
            let runs = case.runs.len();
            let sides = case.variants.iter_mut().filter(|it| limited.contains(&&it.variant));
            sides.for_each(|side| side.limited_runs = runs);
            case.bound_by_generator();
            verdict(&case, &candidate)
        };
        assert_eq!(judged(&[]).0, Verdict::Faster);
        assert_eq!(judged(&[&candidate]).0, Verdict::Faster);
        for limited in [&[&baseline][..], &[&baseline, &candidate]] {
            let variants = limited.iter().map(|it| (*it).clone()).collect();
            assert_eq!(
                judged(limited),
                (Verdict::Undecided, Reason::GeneratorDecides { variants })
            );
        }
    }
}

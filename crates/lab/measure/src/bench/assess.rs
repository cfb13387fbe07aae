//! From runs to a record: medians, ratios of pairs, and the verdict on them. Nothing is started or read here.

use anyhow::Context as _;
use lab_protocol::{
    ByPercentile, Latency, Metric, Note, NoteKind, OpenLoop, Outcome, Reason, Request, Speedups,
};
use lab_report::{
    CaseRecord, Control, Latencies, OpenLoopRecord, RequestCounts, Run, VariantRecord, growth,
};
use lab_servers::Subject;
use lab_stats::{Verdict, median_of};

use super::{
    Effort, Experiment, Looks, Runs, Until,
    by_request::by_request,
    ratios::{control, control_pairs_of, is_late, of_sides, outcomes_of, over},
    run::{SystemCalls, Uncounted},
};

/// The record of all servers of an experiment. Its verdict is about `candidate`.
///
/// # Errors
///
/// If a server has no run.
pub fn assess(experiment: &Experiment, runs: &Runs, candidate: &str) -> anyhow::Result<CaseRecord> {
    let assessment = Assessment::new(experiment, runs)?;
    assessment.record(candidate, &experiment.subjects, runs.clone(), experiment.effort.family)
}

/// Like [`assess`], with a record for each candidate: of its own runs, and of the runs of the baseline in the same
/// pairs. The error rates of their verdicts hold for all of them together.
///
/// # Errors
///
/// If a server has no run.
pub fn assess_each(experiment: &Experiment, runs: &Runs) -> anyhow::Result<Vec<CaseRecord>> {
    let assessment = Assessment::new(experiment, runs)?;
    let (baseline, candidates) =
        experiment.subjects.split_first().context("there is a baseline")?;
    let mut records = Vec::new();
    for candidate in candidates {
        let own = runs.of_sides([&baseline.name, &candidate.name]);
        let sides = [baseline.clone(), candidate.clone()];
        let mut record = assessment.record(&candidate.name, &sides, own, candidates.len())?;
        if candidates.len() > 1 {
            record.case = candidate.name.as_str().into();
        }
        records.push(record);
    }
    Ok(records)
}

/// What a look at unfinished runs shows.
#[derive(Debug)]
pub(super) struct Seen {
    /// Whether more pairs would change nothing that one wants to know.
    pub is_known: bool,
    /// The factor of the metric that decides, with its interval, of each candidate.
    pub interval: String,
}

/// Looks at all candidates that are judged.
pub(super) fn look_at(experiment: &Experiment, runs: &Runs, looks: &Looks) -> anyhow::Result<Seen> {
    let (mut is_known, mut intervals) = (true, Vec::new());
    for candidate in experiment.judged() {
        let record = assess(experiment, runs, candidate)?;
        is_known &= looks.is_known(&record);
        intervals.extend(record.speedup.of(record.metric).map(lab_report::speedup));
    }
    Ok(Seen { is_known, interval: intervals.join(", ") })
}

impl Runs {
    fn of_sides(&self, sides: [&str; 2]) -> Self {
        let [closed, open] = [&self.closed, &self.open].map(|runs| of_sides(sides, runs));
        let mut system_calls = self.system_calls.clone();
        system_calls.retain(|of| sides.contains(&&*of.subject));
        let alone = self.alone.clone();
        Self { closed, open, system_calls, alone, ..*self }
    }
}

/// The parts that the records of an experiment have in common.
struct Assessment<'a> {
    experiment: &'a Experiment,
    baseline: &'a str,
    /// The control of the whole session. Its runs are as far apart in time as the runs of a pair.
    control: Control,
    /// Whether the latencies that have factors are those of the open loop, because it ran in pairs.
    is_open_in_pairs: bool,
}

impl<'a> Assessment<'a> {
    fn new(experiment: &'a Experiment, runs: &Runs) -> anyhow::Result<Self> {
        let baseline = &*experiment.subjects.first().context("there is a baseline")?.name;
        let is_open_in_pairs = runs.arrivals.is_some() && experiment.effort.decides_in_open_loop();
        let mut assessment =
            Self { experiment, baseline, control: Control::default(), is_open_in_pairs };
        let of_loop = if is_open_in_pairs { &runs.open } else { &runs.closed };
        assessment.control.pairs = control_pairs_of(baseline, of_loop).len();
        assessment.control.speedup = assessment.speedups(runs, |runs| control(baseline, runs));
        Ok(assessment)
    }

    /// The factors that `of` takes from runs of one loop, each from the loop that ran in pairs.
    fn speedups(&self, runs: &Runs, of: impl Fn(&[Run]) -> Speedups) -> Speedups {
        let closed = of(&runs.closed);
        if !self.is_open_in_pairs {
            return closed;
        }
        let Speedups { latency, latency_at_least, .. } = of(&runs.open);
        Speedups { latency, latency_at_least, ..closed }
    }

    /// The factors of a variant over the baseline.
    fn over_baseline(&self, variant: &str, measured: &Runs, family: usize) -> Speedups {
        let effort = Effort { family, ..self.experiment.effort };
        self.speedups(measured, |runs| {
            over(self.baseline, variant, runs, |pairs| effort.look(pairs))
        })
    }

    /// How many pairs the factors of a candidate are from.
    fn pairs_of(&self, candidate: &str, measured: &Runs, family: usize) -> usize {
        let runs = if self.is_open_in_pairs { &measured.open } else { &measured.closed };
        let is_pair = |run: &&Run| run.variant == candidate && run.pair.is_some();
        Effort { family, ..self.experiment.effort }.look(runs.iter().filter(is_pair).count()).pairs
    }

    /// The record of one subject.
    fn variant(
        &self,
        subject: &Subject,
        measured: &Runs,
        family: usize,
    ) -> anyhow::Result<VariantRecord> {
        let Subject { name, given, besides, program, .. } = subject;
        let outcomes = outcomes_of(name, &measured.open);
        let exact = self.experiment.exact.of(name).into_iter();
        let is_candidate = name != self.baseline;
        Ok(VariantRecord {
            given: given.clone(),
            besides: besides.clone().unwrap_or_default(),
            program: *program,
            exact: exact.map(|(name, count)| (name, count as f64)).collect(),
            open_loop: measured.arrivals.and_then(|open| open_loop(open, &outcomes)),
            speedup: is_candidate.then(|| self.over_baseline(name, measured, family)),
            ..variant_record(name, &measured.closed)
                .with_context(|| self.experiment.name.to_string())?
        })
    }

    /// The record of these subjects. The verdict comes last, because it needs the noise, and the noise needs the
    /// factors of all variants. Of the subjects, `family` candidates are judged together.
    fn record(
        &self,
        candidate: &str,
        subjects: &[Subject],
        measured: Runs,
        family: usize,
    ) -> anyhow::Result<CaseRecord> {
        let Self { experiment, .. } = *self;
        let Experiment { workload, effort, .. } = experiment;
        let (mut variants, mut notes) = (Vec::new(), experiment.notes.clone());
        for subject in subjects {
            variants.push(self.variant(subject, &measured, family)?);
        }
        notes.extend(add_all_system_calls(&mut variants, &measured.system_calls));
        let launches = subjects.iter().map(|subject| &subject.launch);
        let load = workload.describe(Request::of_visit(experiment.requests()).len(), launches);
        let engine = measured.closed.iter().find_map(|run| run.outcome.engine.as_ref());
        let promise = experiment.promise.filter(|promise| promise.metric == effort.metric);
        let mut record = CaseRecord {
            case: experiment.name.clone(),
            visit: workload.visit.clone(),
            load: engine.map_or(load.clone(), |engine| format!("{load}, by {engine}")),
            users: workload.load.users,
            think_ms: workload.load.think_ms,
            pairs: self.pairs_of(candidate, &measured, family),
            sequential: matches!(effort.until, Until::Known { .. }),
            seed: effort.seed,
            layouts: layouts_of(subjects),
            warm_up_s: experiment.closed_loop().warm_up.as_secs_f64(),
            notes,
            measurement_s: effort.measurement.as_secs_f64(),
            minimum_effect: effort.minimum_effect,
            metric: effort.metric,
            variants,
            candidate: candidate.to_owned(),
            family,
            speedup: self.over_baseline(candidate, &measured, family),
            control: self.control.clone(),
            requests: by_request([self.baseline, candidate], &measured, |pairs| {
                Effort { family, ..*effort }.look(pairs)
            }),
            promised: promise.map(|promise| promise.factor),
            steps_note: experiment.steps_note.clone(),
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

/// The number of layouts of each subject; `None` if the subjects are built as cargo builds them.
fn layouts_of(subjects: &[Subject]) -> Option<usize> {
    Some(subjects.first()?.layouts.len()).filter(|layouts| *layouts > 0)
}

/// Adds the system calls that were counted to their variants. Returns the notes on why some were not counted.
fn add_all_system_calls(variants: &mut [VariantRecord], counts: &[SystemCalls]) -> Vec<Note> {
    let mut notes = Vec::new();
    for counted in counts {
        let variant = variants.iter_mut().find(|variant| variant.variant == counted.subject);
        notes.extend(variant.and_then(|variant| add_system_calls(variant, counted)));
    }
    notes
}

/// Adds what was counted of a variant, or the fault that came meanwhile. Returns why nothing was counted, if that is
/// no fault.
fn add_system_calls(variant: &mut VariantRecord, counted: &SystemCalls) -> Option<Note> {
    let name = "system_calls".to_owned();
    match &counted.per_visit {
        Ok([least, most]) if least == most => drop(variant.exact.insert(name, *least)),
        Ok(range) => drop(variant.ranges.insert(name, *range)),
        Err(Uncounted { why, is_fault: true }) => {
            variant.requests.sent += 1;
            variant.requests.wrong += 1;
            variant.requests.first_fault.get_or_insert(why.clone());
        }
        Err(Uncounted { why, is_fault: false }) => {
            return Some(Note::of(&variant.variant, NoteKind::NotCounted { why: why.clone() }));
        }
    }
    None
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
    let limited = sides.filter(|variant| is_closed && variant.is_limited(&record.runs));
    let variants: Vec<_> = limited.map(|variant| variant.variant.clone()).collect();
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
        queued: punctuality().map(|punctuality| punctuality.queued).sum(),
        lag_p99_ms: punctuality()
            .map(|punctuality| punctuality.lag_p99_ms)
            .max_by(f64::total_cmp)?,
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

/// The median latencies of the requests of other clients.
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
mod tests;

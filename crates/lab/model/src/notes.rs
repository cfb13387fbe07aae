//! Warnings about a case's figures, a sentence or two each.

use lab_display::{factor, plural, thousands, time_ms};
use lab_stats::{Verdict, median_of};

use super::{CaseRecord, Metric, Percentile, VariantRecord, conditions, decline};

/// With fewer answers in a run, the widening of the interval for small counts is worth a note.
const FEW_ANSWERS: f64 = 20.0;
/// A server that gains this factor within every run is not warm.
const GAIN: f64 = 1.1;
/// Tails of the open loop that differ by this factor are worth a note.
const TAILS: f64 = 2.0;
/// The share of a run from which on waiting for a core is worth a note.
const MUCH_WAITING: f64 = 0.1;

pub fn notes(case: &CaseRecord) -> Vec<String> {
    let mut notes: Vec<_> =
        case.variants.iter().flat_map(|variant| of_variant(case, variant)).collect();
    notes.extend(case.caveats.clone());
    notes.extend(conditions::notes(case));
    notes.extend(contradictions(case));
    notes.extend(tails_apart(case));
    notes.extend(decline::falls_behind(case));
    if matches!(case.metric, Metric::Latency(_)) && case.open_runs.is_empty() {
        notes.push(
            "the latencies are those of a closed loop, whose users send nothing while a server \
             stalls. Random arrivals (--open-loop) show stalls."
                .to_owned(),
        );
    }
    if let (Some(share), Some(baseline)) = (case.idle_baseline(), case.variants.first()) {
        notes.push(format!(
            "{} used {:.1} % of a core. Its CPU per request is mostly the cost of idling: do not quote \
             that factor.",
            baseline.variant,
            100.0 * share
        ));
    }
    let engine = case.runs.iter().find_map(|run| run.outcome.engine.as_ref());
    notes.extend(engine.into_iter().flat_map(|engine| engine.notes.clone()));
    if let Some(note) = case.steps_note.as_ref().filter(|_| case.variants.len() > 2) {
        notes.push(note.trim().to_owned());
    }
    if let (Some(promised), Some(found)) = (case.promised, case.speedup.of(case.metric))
        && found.estimate < promised
    {
        notes.push(format!(
            "the case promises {} in {}, but this run shows {}: is the machine busy with something \
             else?",
            factor(promised),
            case.metric.name(),
            factor(found.estimate)
        ));
    }
    notes
}

fn of_variant(case: &CaseRecord, variant: &VariantRecord) -> Vec<String> {
    let mut notes = Vec::new();
    let requests = &variant.requests;
    let mut note = |text: String| notes.push(format!("{}: {text}", variant.variant));
    let runs = case.runs.iter().filter(|run| run.variant == variant.variant);
    let empty = runs.clone().filter(|run| run.outcome.ok_in_time == 0).count();
    if empty > 0 {
        let fix = match requests.errors() {
            0 => "; give it longer with --measurement",
            _ => "",
        };
        note(format!("{} had no right answer in time{fix}", plural(empty, "run")));
    }
    let answers = median_of(runs.clone().map(|run| run.outcome.ok_in_time as f64));
    if let Some(answers) = answers.filter(|answers| (1.0..FEW_ANSWERS).contains(answers)) {
        note(format!(
            "a run has about {answers:.0} answers, one more or less by chance, so the intervals are \
             {:.0} % wider on each side. Runs of {:.1} s (--measurement) would have 50.",
            100.0 / answers,
            case.measurement_s * 50.0 / answers
        ));
    }
    let gains = runs.clone().filter_map(|run| match run.outcome.fifths[..] {
        [first, .., last] if first > 0 => Some(last as f64 / first as f64),
        _ => None,
    });
    // Not the median: a machine that varies lets some runs gain and others lose.
    let gain = gains.reduce(f64::min).filter(|gain| *gain >= GAIN && runs.clone().count() > 1);
    if let Some(gain) = gain {
        note(format!(
            "every run was at least {} as fast at its end as at its begin: the server was not warm. \
             Give it a longer --warm-up",
            factor(gain)
        ));
    }
    if let Some(loss) = decline::slows_down(runs.clone().map(|run| &run.outcome)) {
        note(loss);
    }
    if let Some(fault) = &requests.first_fault {
        let [wrong, failed] =
            [requests.wrong, requests.failed].map(|count| thousands(count as f64));
        note(format!("{wrong} wrong and {failed} failed answers, the first: {fault}"));
    }
    if requests.lost > 0 {
        note(format!(
            "{} never got an answer, although the server had time for them. If such long requests \
             are normal here, allow them with --allow-unfinished.",
            plural(requests.lost as usize, "request")
        ));
    }
    // Those of requests that were sent again have a note of their own.
    let reopened = variant.reopened.saturating_sub(requests.resent);
    if reopened > 0 {
        let connections = plural(reopened as usize, "connection");
        note(format!("{connections} opened again, because the server had closed them"));
    }
    if case.drops_requests(variant) {
        note("it closed so many connections instead of answering that this is an error".to_owned());
    }
    let in_open_loop = variant.open_loop.as_ref().map_or(0, |open| open.requests.resent);
    if requests.resent + in_open_loop > 0 {
        note(format!(
            "{} sent again over a new connection, because the server closed a connection instead of \
             answering: its keep-alive timeout is too short for this load, or a handler crashes. \
             Latency counts from the first time.",
            plural((requests.resent + in_open_loop) as usize, "request")
        ));
    }
    if let Some(why) = &variant.generator_limited {
        let (limited, all) = (variant.limited_runs, runs.count());
        note(format!("{limited} of {all} runs are limited by the generator: {why}"));
    } else if let Some(waited) = variant.generator_waited.filter(|share| *share >= MUCH_WAITING) {
        note(format!(
            "the generator waited for a core for up to {:.0} % of a run; its latencies include that",
            100.0 * waited
        ));
    }
    if let Some(open_loop) = &variant.open_loop {
        if let Some(fault) = &open_loop.requests.first_fault {
            note(format!("wrong or failed in the open loop: {fault}"));
        }
        if open_loop.requests.lost > 0 {
            let arrivals = plural(open_loop.requests.lost as usize, "arrival");
            note(format!("{arrivals} of the open loop never got an answer"));
        }
        if let Some(why) = &open_loop.invalid {
            note(format!(
                "the latencies of the open loop are upper bounds (≤), because the generator was \
                 late: {why}"
            ));
        }
    }
    if requests.unfinished > requests.lost && variant.throughput_rps > 0.0 {
        // Little's law for a closed loop: users = throughput * (latency + pause).
        let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
        note(format!(
            "{} of {} requests were unfinished when their run ended, so its latencies are lower \
             bounds. Little's law gives {} for a steady queue.",
            thousands(requests.unfinished as f64),
            thousands(requests.sent as f64),
            time_ms(settled * 1e3)
        ));
    }
    notes
}

/// Metrics that are better or worse, where the one that decides is not.
fn contradictions(case: &CaseRecord) -> Vec<String> {
    let note = |metric: Metric| {
        let direction = match case.judged_by(metric).verdict {
            Verdict::Faster => "better",
            Verdict::Slower => "worse",
            _ => return None,
        };
        let found = case.speedup.of(metric)?;
        let agrees = found.estimate > 1.0 && case.verdict.direction() > 0
            || found.estimate < 1.0 && case.verdict.direction() < 0;
        // Idling is no cost of a request.
        let is_cost = metric != Metric::Cpu || case.idle_baseline().is_none();
        let [name, chosen] = [metric, case.metric].map(Metric::name);
        (!agrees && is_cost).then(|| {
            let by = factor(found.estimate.max(1.0 / found.estimate));
            format!(
                "{name} is {direction} by {by}, but the verdict on {chosen} is: {}",
                case.verdict
            )
        })
    };
    Metric::all().filter_map(note).collect()
}

/// Tails of the open loop that differ twofold, where the verdict does not say so: throughput and means
/// hide a stall.
fn tails_apart(case: &CaseRecord) -> Option<String> {
    let (baseline, candidate) = case.sides()?;
    let percentile = Percentile::all().rfind(|it| it.metric() == Some("latency-p99"))?;
    let tail = |side: &VariantRecord| {
        let open = side.open_loop.as_ref().filter(|open| open.invalid.is_none())?;
        open.latency_ms.by.get(percentile).copied()
    };
    let tails @ [before, after] = [tail(baseline)?, tail(candidate)?];
    let is_apart = before.max(after) >= TAILS * before.min(after);
    let agrees = match case.verdict.direction() {
        0 => false,
        direction => (after < before) == (direction > 0),
    };
    let is_decided = matches!(case.metric, Metric::Latency(_));
    (is_apart && !agrees && !is_decided).then(|| {
        let [before, after] = tails.map(time_ms);
        format!(
            "the p99 latency in the open loop is {before} for {} and {after} for {}, in one run each. \
             For a verdict on it: --metric latency-p99",
            baseline.variant, candidate.variant
        )
    })
}

//! The rules of the warnings about a case's figures.

use lab_protocol::{Metric, Note, NoteKind, Outcome, Percentile};
use lab_stats::{Verdict, median_of};

use crate::{CaseRecord, Growth, VariantRecord, conditions, decline};

/// With fewer answers in a run, the widening of the interval for small counts is worth a note.
const FEW_ANSWERS: f64 = 20.0;
/// A server that gains this factor within every run is not warm.
const GAIN: f64 = 1.1;
/// Tails of the open loop that differ by this factor are worth a note.
const TAILS: f64 = 2.0;
/// Measurements of so many seconds show whether memory stops growing.
const LONG_S: f64 = 10.0;
/// The share of a run from which on waiting for a core is worth a note.
const MUCH_WAITING: f64 = 0.1;

pub fn notes(case: &CaseRecord) -> Vec<Note> {
    let mut notes: Vec<_> =
        case.variants.iter().flat_map(|variant| of_variant(case, variant)).collect();
    notes.extend(case.notes.clone());
    notes.extend(conditions::notes(case));
    notes.extend(contradictions(case));
    notes.extend(tails_apart(case));
    notes.extend(decline::falls_behind(case));
    if matches!(case.metric, Metric::Latency(_)) && case.open_runs.is_empty() {
        notes.push(NoteKind::ClosedLoopLatency.into());
    }
    if let (Some(share), Some(baseline)) = (case.idle_baseline(), case.variants.first()) {
        notes.push(Note::of(&baseline.variant, NoteKind::Idles { share }));
    }
    let engine = case.runs.iter().find_map(|run| run.outcome.engine.as_ref());
    let steps = case.steps_note.iter().filter(|_| case.variants.len() > 2);
    let sentences = engine.iter().flat_map(|engine| &engine.notes).chain(steps);
    notes.extend(sentences.map(|sentence| Note::Sentence(sentence.trim().to_owned())));
    if let (Some(promised), Some(found)) = (case.promised, case.speedup.of(case.metric))
        && found.estimate < promised
    {
        let (metric, found) = (case.metric, found.estimate);
        notes.push(NoteKind::BelowPromise { metric, promised, found }.into());
    }
    notes
}

/// Notes about a variant: first about its runs, then about its requests, then about how the load was made.
fn of_variant(case: &CaseRecord, variant: &VariantRecord) -> Vec<Note> {
    let runs = case.runs.iter().filter(|run| run.variant == variant.variant);
    let outcomes: Vec<_> = runs.map(|run| &run.outcome).collect();
    let mut kinds = of_runs(case, &outcomes);
    kinds.extend(memory_grows(case, variant));
    kinds.extend(of_requests(case, variant));
    kinds.extend(of_generator(variant, outcomes.len()));
    kinds.extend(of_arrivals(variant));
    kinds.extend(unfinished(case, variant));
    kinds.into_iter().map(|kind| Note::of(&variant.variant, kind)).collect()
}

/// Notes about runs whose figures say little, because answers were few or the server wasn't steady.
fn of_runs(case: &CaseRecord, outcomes: &[&Outcome]) -> Vec<NoteKind> {
    let mut kinds = Vec::new();
    let empty = outcomes.iter().filter(|outcome| outcome.is_empty()).count();
    if empty > 0 {
        kinds.push(NoteKind::NoAnswers { runs: empty });
    }
    let answers = median_of(outcomes.iter().map(|outcome| outcome.ok_in_time as f64));
    if let Some(answers) = answers.filter(|answers| (1.0..FEW_ANSWERS).contains(answers)) {
        let measurement_s = case.measurement_s * 50.0 / answers;
        kinds.push(NoteKind::FewAnswers { answers, wider: 1.0 / answers, measurement_s });
    }
    let gains = outcomes.iter().filter_map(|outcome| match outcome.fifths[..] {
        [first, .., last] if first > 0 => Some(last as f64 / first as f64),
        _ => None,
    });
    // Not the median: a machine that varies lets some runs gain and others lose.
    let gain = gains.reduce(f64::min).filter(|gain| *gain >= GAIN && outcomes.len() > 1);
    kinds.extend(gain.map(|gain| NoteKind::NotWarm { gain }));
    let loss = decline::slows_down(outcomes.iter().copied());
    kinds.extend(loss.map(|loss| NoteKind::SlowsDown { loss }));
    kinds
}

fn memory_grows(case: &CaseRecord, variant: &VariantRecord) -> Option<NoteKind> {
    let Growth { low, high, .. } = variant.memory_growth.filter(|growth| growth.is_found)?;
    Some(NoteKind::MemoryGrows { low, high, measurement_s: LONG_S.max(4.0 * case.measurement_s) })
}

/// Notes about requests that failed or were lost, and about connections that didn't last.
fn of_requests(case: &CaseRecord, variant: &VariantRecord) -> Vec<NoteKind> {
    let mut kinds = Vec::new();
    let requests = &variant.requests;
    if let Some(first) = requests.first_fault.clone() {
        let (wrong, failed) = (requests.wrong, requests.failed);
        kinds.push(NoteKind::WrongAnswers { wrong, failed, first });
    }
    if requests.lost > 0 {
        kinds.push(NoteKind::LostRequests { requests: requests.lost });
    }
    // Two other notes count the connections of requests that were sent again, and the connections that `lab` closed.
    let connections = variant.reopened.saturating_sub(requests.resent + requests.surplus);
    if connections > 0 {
        kinds.push(NoteKind::Reopened { connections });
    }
    if requests.surplus > 0 {
        kinds.push(NoteKind::Surplus { connections: requests.surplus });
    }
    if case.drops_requests(variant) {
        kinds.push(NoteKind::DropsRequests);
    }
    let of_arrivals = variant.open_loop.as_ref().map_or(0, |open| open.requests.resent);
    let resent = requests.resent + of_arrivals;
    if resent > 0 {
        kinds.push(NoteKind::Resent { requests: resent });
    }
    kinds
}

/// A generator that limited runs also waited in them, so the second note would repeat the first.
fn of_generator(variant: &VariantRecord, runs: usize) -> Option<NoteKind> {
    if let Some(why) = variant.generator_limited.clone() {
        return Some(NoteKind::GeneratorLimited { limited: variant.limited_runs, runs, why });
    }
    let share = variant.generator_waited.filter(|share| *share >= MUCH_WAITING)?;
    Some(NoteKind::GeneratorWaited { share })
}

/// Notes about the open loop.
fn of_arrivals(variant: &VariantRecord) -> Vec<NoteKind> {
    let Some(open) = &variant.open_loop else { return Vec::new() };
    let mut kinds = Vec::new();
    if let Some(first) = open.requests.first_fault.clone() {
        kinds.push(NoteKind::WrongArrivals { first });
    }
    if open.requests.lost > 0 {
        kinds.push(NoteKind::LostArrivals { arrivals: open.requests.lost });
    }
    if let Some(why) = open.invalid.clone() {
        kinds.push(NoteKind::LateArrivals { why });
    }
    kinds
}

fn unfinished(case: &CaseRecord, variant: &VariantRecord) -> Option<NoteKind> {
    let requests = &variant.requests;
    if requests.unfinished <= requests.lost || variant.throughput_rps <= 0.0 {
        return None;
    }
    // Little's law for a closed loop: users = throughput * (latency + pause).
    let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
    let (unfinished, sent) = (requests.unfinished, requests.sent);
    Some(NoteKind::Unfinished { unfinished, sent, settled_ms: settled * 1e3 })
}

/// Metrics that are better or worse, where the one that decides is not.
fn contradictions(case: &CaseRecord) -> Vec<Note> {
    let note = |metric: Metric| {
        let (Verdict::Faster | Verdict::Slower, _) = case.judged_by(metric) else { return None };
        let factor = case.speedup.of(metric)?.estimate;
        let agrees = factor > 1.0 && case.verdict.direction() > 0
            || factor < 1.0 && case.verdict.direction() < 0;
        // Idling is no cost of a request.
        let is_cost = metric != Metric::Cpu || case.idle_baseline().is_none();
        let (decides, verdict) = (case.metric, case.verdict);
        (!agrees && is_cost)
            .then(|| NoteKind::Contradiction { metric, factor, decides, verdict }.into())
    };
    Metric::all().filter_map(note).collect()
}

/// Tails of the open loop that differ twofold, where the verdict does not say so: throughput and means
/// hide a stall.
fn tails_apart(case: &CaseRecord) -> Option<Note> {
    let (baseline, candidate) = case.sides()?;
    let tail = |side: &VariantRecord| {
        let open = side.open_loop.as_ref().filter(|open| open.invalid.is_none())?;
        open.latency_ms.by.get(Percentile::P99).copied()
    };
    let (before, after) = (tail(baseline)?, tail(candidate)?);
    let is_apart = before.max(after) >= TAILS * before.min(after);
    let agrees = match case.verdict.direction() {
        0 => false,
        direction => (after < before) == (direction > 0),
    };
    let is_decided = matches!(case.metric, Metric::Latency(_));
    let kind = NoteKind::TailsApart { baseline_ms: before, candidate_ms: after };
    (is_apart && !agrees && !is_decided).then(|| kind.into())
}

#[cfg(test)]
mod tests;

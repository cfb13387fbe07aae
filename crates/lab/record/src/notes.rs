//! Warnings about a case's figures, a sentence or two each.

use lab_display::{factor, plural, thousands, time_ms};
use lab_load::Latency;
use lab_stats::Verdict;

use super::{CaseRecord, Metric, VariantRecord, modes};

/// The share of a run from which on waiting for a core is worth a note.
const MUCH_WAITING: f64 = 0.1;

pub fn notes(case: &CaseRecord) -> Vec<String> {
    let mut notes: Vec<_> =
        case.variants.iter().flat_map(|variant| of_variant(case, variant)).collect();
    notes.extend(contradictions(case));
    if let (Some(share), Some(baseline)) = (case.idle_baseline(), case.variants.first()) {
        notes.push(format!(
            "{} used {:.1} % of a core. Its CPU per request is mostly the cost of idling: do not quote \
             that factor.",
            baseline.variant,
            100.0 * share
        ));
    }
    notes.extend(modes_apart(case));
    if let Some(note) = case.steps_note.as_ref().filter(|_| case.variants.len() > 2) {
        notes.push(note.trim().to_owned());
    }
    if let (Some(promised), Some(found)) = (case.promised_throughput, case.speedup.throughput)
        && found.estimate < promised
    {
        notes.push(format!(
            "the case promises {} in throughput, but this run shows {}: is the machine busy with \
             something else?",
            factor(promised),
            factor(found.estimate)
        ));
    }
    notes
}

fn of_variant(case: &CaseRecord, variant: &VariantRecord) -> Vec<String> {
    let mut notes = Vec::new();
    let name = &variant.variant;
    let runs = case.runs.iter().filter(|run| run.variant == *name);
    let empty = runs.clone().filter(|run| run.outcome.ok_in_time == 0).count();
    if empty > 0 {
        let fix = match variant.errors() {
            0 => "; give it longer with --measurement",
            _ => "",
        };
        notes.push(format!("{name}: {} had no right answer in time{fix}", plural(empty, "run")));
    }
    if let Some(fault) = &variant.first_fault {
        notes.push(format!(
            "{name}: {} wrong and {} failed answers, the first: {fault}",
            thousands(variant.wrong as f64),
            thousands(variant.failed as f64)
        ));
    }
    if variant.lost > 0 {
        notes.push(format!(
            "{name}: {} never got an answer, although the server had time for them. If such long \
             requests are normal here, allow them with --allow-unfinished.",
            plural(variant.lost as usize, "request")
        ));
    }
    if variant.reopened > 0 {
        notes.push(format!(
            "{name}: {} opened again, because the server had closed them",
            plural(variant.reopened as usize, "connection")
        ));
    }
    if let Some(why) = &variant.generator_limited {
        notes.push(format!(
            "{name}: {} of {} runs are limited by the generator: {why}",
            variant.limited_runs,
            runs.count()
        ));
    } else if let Some(waited) = variant.generator_waited.filter(|share| *share >= MUCH_WAITING) {
        notes.push(format!(
            "{name}: the generator waited for a core for up to {:.0} % of a run; its latencies \
             include that",
            100.0 * waited
        ));
    }
    if let Some(open_loop) = &variant.open_loop {
        if let Some(fault) = &open_loop.first_fault {
            notes.push(format!("{name}: wrong or failed in the open loop: {fault}"));
        }
        if open_loop.lost > 0 {
            notes.push(format!(
                "{name}: {} of the open loop never got an answer",
                plural(open_loop.lost as usize, "arrival")
            ));
        }
        if let Some(why) = &open_loop.invalid {
            notes.push(format!("{name}: do not quote the latencies of the open loop: {why}"));
        }
    }
    if variant.unfinished > variant.lost && variant.throughput_rps > 0.0 {
        // Little's law for a closed loop: users = throughput * (latency + pause).
        let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
        notes.push(format!(
            "{name}: {} of {} requests were unfinished when their run ended, so its latencies are \
             lower bounds. Little's law gives {} for a steady queue.",
            thousands(variant.unfinished as f64),
            thousands(variant.sent as f64),
            time_ms(settled * 1e3)
        ));
    }
    notes
}

/// Metrics that say the opposite of the one that decides.
fn contradictions(case: &CaseRecord) -> Vec<String> {
    let opposite = match case.verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        Verdict::Equivalent | Verdict::Undecided => return Vec::new(),
    };
    let word = if opposite == Verdict::Slower { "worse" } else { "better" };
    let others = Metric::ALL.into_iter().filter(|metric| *metric != case.metric);
    let contradicts = others.filter(|metric| case.judged_by(*metric).verdict == opposite);
    let note = |metric: Metric| {
        let found = case.speedup.of(metric).map_or(1.0, |speedup| speedup.estimate);
        format!(
            "{} contradicts the verdict: it is {word} by {}. {} was chosen to decide, before the \
             runs.",
            metric.name(),
            factor(found.max(1.0 / found)),
            case.metric.name()
        )
    };
    contradicts.map(note).collect()
}

/// Second modes in the latencies of the two sides of the verdict.
fn modes_apart(case: &CaseRecord) -> Vec<String> {
    let latency = |variant: &VariantRecord| {
        let mut latency = Latency::default();
        let runs = case.runs.iter().filter(|run| run.variant == variant.variant);
        runs.for_each(|run| latency.add(&run.outcome.latency));
        latency
    };
    let Some((baseline, candidate)) = case.sides() else { return Vec::new() };
    let [one, other] = &[baseline, candidate].map(|side| (side, latency(side)));
    let mut notes = Vec::new();
    for ((side, latency), (rival, rivals)) in [(one, other), (other, one)] {
        if side.latency_ms.exact_below.is_some() {
            continue;
        }
        if let Some(mode) = modes::second(latency) {
            notes.push(mode.in_words(&side.variant, &rival.variant, rivals));
        }
    }
    notes
}

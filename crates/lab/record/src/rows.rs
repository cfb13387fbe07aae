//! The rows of a record's tables, and the notes below them.

use lab_display::{NONE, factor, significant, speedup_or, thousands, time_ms};

use super::{CaseRecord, Latencies, VariantRecord};

/// Throughput and CPU per request, each followed by its speedup over the baseline.
pub fn claim_row(variant: &VariantRecord) -> Vec<String> {
    vec![
        variant.variant.clone(),
        significant(variant.throughput_rps),
        speedup_or("", variant.speedup.and_then(|over| over.throughput)),
        variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
        speedup_or("", variant.speedup.and_then(|over| over.cpu_per_request)),
    ]
}

/// The lowest confidence of the throughput intervals: `95.2 %`. Rounded down: 94.99 % is not 95 %.
pub fn confidence<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> Option<String> {
    let intervals = cases.into_iter().filter_map(|case| case.speedup.throughput);
    let lowest = intervals.map(|speedup| speedup.confidence).reduce(f64::min)?;
    Some(format!("{:.1} %", (lowest * 1000.0).floor() / 10.0))
}

/// Latency and errors of the open loop, if it was measured.
pub fn open_loop_row(variant: &VariantRecord) -> Option<Vec<String>> {
    let open_loop = variant.open_loop.as_ref()?;
    let errors = open_loop.wrong + open_loop.failed;
    let [p50, p90, p99] = percentiles(open_loop.latency_ms);
    let (queued, errors) = (thousands(open_loop.queued as f64), thousands(errors as f64));
    Some(vec![variant.variant.clone(), p50, p90, p99, queued, errors])
}

fn percentiles(latency: Latencies) -> [String; 3] {
    let bound = if latency.lower_bounds { "≥" } else { "" };
    [latency.p50, latency.p90, latency.p99].map(|ms| format!("{bound}{}", time_ms(ms)))
}

/// Latency, memory and errors of a variant.
pub fn illustration_row(variant: &VariantRecord) -> Vec<String> {
    let [p50, p90, p99] = percentiles(variant.latency_ms);
    vec![
        variant.variant.clone(),
        p50,
        p90,
        p99,
        variant.peak_rss_mib.map_or(NONE.into(), significant),
        thousands((variant.wrong + variant.failed) as f64),
    ]
}

/// Warnings about these figures, a sentence or two each.
pub fn notes(case: &CaseRecord) -> Vec<String> {
    let mut notes = Vec::new();
    for variant in &case.variants {
        if let Some(fault) = &variant.first_fault {
            notes.push(format!(
                "{}: {} wrong and {} failed answers, the first: {fault}",
                variant.variant,
                thousands(variant.wrong as f64),
                thousands(variant.failed as f64)
            ));
        }
        if let Some(why) = &variant.generator_limited {
            notes.push(format!(
                "{} is limited by the generator: {why}. Use fewer `--users`, or a machine with more \
                 cores.",
                variant.variant
            ));
        }
        if let Some(fault) = variant.open_loop.as_ref().and_then(|open| open.first_fault.as_ref()) {
            notes.push(format!("{}: wrong or failed in the open loop: {fault}", variant.variant));
        }
        if let Some(why) = variant.open_loop.as_ref().and_then(|open| open.invalid.as_ref()) {
            notes.push(format!(
                "{}: do not quote the latencies of the open loop: {why}",
                variant.variant
            ));
        }
        if variant.latency_ms.lower_bounds && variant.wrong + variant.failed == 0 {
            // Little's law for a closed loop: users = throughput * (latency + pause).
            let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
            notes.push(format!(
                "{}: {} of {} requests were unfinished when their run ended, so its latencies are lower \
                 bounds. Little's law gives {settled:.0} s for a steady queue.",
                variant.variant,
                thousands(variant.unfinished as f64),
                thousands(variant.sent as f64)
            ));
        }
    }
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

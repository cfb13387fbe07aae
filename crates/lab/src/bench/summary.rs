//! A comparison as tables and sentences for the terminal.
//!
//! Every table names the layer that its figures belong to: a *claim* has an interval behind it, an
//! *illustration* has not, and an *exact* figure needs none.

use console::style;

use super::{CaseRecord, Latencies, Record, VariantRecord};
use crate::{
    display::{self, NONE, factor, significant, speedup, thousands, time_ms},
    stats::{Speedup, Verdict},
};

/// Prints one case: its variants layer by layer, and what follows from them.
pub fn print_case(title: &str, case: &CaseRecord) {
    out!("{}  {title}", style(&case.case).bold().cyan());
    out!("{}", case.load);
    let plural = if case.pairs == 1 { "" } else { "s" };
    out!("{} pair{plural} of runs, {} s each\n", case.pairs, case.measurement_s);

    let baseline = format!("over {}", case.variants.first().map_or("", |first| &first.variant));
    let header = ["claim", "req/s", &baseline, "CPU/req", &baseline];
    out!("{}\n", display::table(&header, case.variants.iter().map(claim_row)).trim_fmt());
    let header = ["illustration", "p50", "p90", "p99", "peak MiB", "errors"];
    let rows = case.variants.iter().map(illustration_row);
    out!("{}\n", display::table(&header, rows).trim_fmt());

    if let Some(rate) = case.variants.iter().find_map(|variant| variant.open_loop.as_ref()) {
        let first = format!("illustration, open loop at {}/s", significant(rate.rate_per_s));
        let header = [first.as_str(), "p50", "p90", "p99", "queued", "errors"];
        let rows = case.variants.iter().filter_map(open_loop_row);
        out!("{}\n", display::table(&header, rows).trim_fmt());
    }
    let exact = case.variants.iter().map(|it| (it.variant.clone(), it.exact.clone()));
    let exact: Vec<_> = exact.collect();
    if exact.iter().any(|(_, counts)| !counts.is_empty()) {
        out!("{}\n", display::counts("exact, a page", &exact).trim_fmt());
    }
    if case.speedup.throughput.is_some_and(|speedup| speedup.is_confident()) {
        out!("  {}", style(case.verdict).bold());
        out!("{}", display::paragraph(&case.reason));
    }
    for note in notes(case) {
        out!("{}", display::paragraph(&format!("note: {note}")));
    }
    out!();
}

/// What is claimed of a variant: throughput and CPU per request, and both over the first variant's.
pub(crate) fn claim_row(variant: &VariantRecord) -> Vec<String> {
    let over = |found: Option<Speedup>| found.map_or(String::new(), |found| speedup(&found));
    vec![
        variant.variant.clone(),
        significant(variant.throughput_rps),
        over(variant.speedup.and_then(|speedup| speedup.throughput)),
        variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
        over(variant.speedup.and_then(|speedup| speedup.cpu_per_request)),
    ]
}

/// What arrivals at a constant rate suffered.
pub(crate) fn open_loop_row(variant: &VariantRecord) -> Option<Vec<String>> {
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
pub(crate) fn illustration_row(variant: &VariantRecord) -> Vec<String> {
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

/// What a reader has to know of these figures, a line each.
pub(crate) fn notes(case: &CaseRecord) -> Vec<String> {
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
                "{} is generator-limited: {why}. Ask with fewer `--users`, or on a machine with \
                 more cores.",
                variant.variant
            ));
        }
        if let Some(fault) = variant.open_loop.as_ref().and_then(|open| open.first_fault.as_ref()) {
            notes.push(format!("{}: wrong or failed in the open loop: {fault}", variant.variant));
        }
        if let Some(why) = variant.open_loop.as_ref().and_then(|open| open.invalid.as_ref()) {
            notes.push(format!(
                "{}: the open loop's latencies do not count: {why}",
                variant.variant
            ));
        }
        if variant.latency_ms.lower_bounds && variant.wrong + variant.failed == 0 {
            // Little's law for a closed loop: users = throughput * (latency + pause).
            let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
            notes.push(format!(
                "{}: {} of {} requests outlast their run: its latencies are lower bounds. Once the \
                 queue has settled, Little's law puts them at {settled:.0} s.",
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
            "the case promises {} in throughput and this run shows {}: is the machine busy with \
             something else?",
            factor(promised),
            factor(found.estimate)
        ));
    }
    notes
}

/// Prints all cases, fixed against slow; `micro` gives Criterion's factor for a case.
pub fn print_summary(record: &Record, micro: impl Fn(&str) -> Option<f64>) {
    let micros: Vec<_> = record.cases.iter().map(|case| micro(&case.case)).collect();
    let with_micro = micros.iter().any(Option::is_some);
    let mut header = vec!["claim: fixed is", "by req/s", "by CPU per req", "A/A noise"];
    if with_micro {
        header.push("Criterion");
    }
    let rows = record.cases.iter().zip(micros).map(|(case, micro)| {
        let text = |found: Option<Speedup>| found.map_or(NONE.into(), |found| speedup(&found));
        let noise = [case.control.speedup.throughput, case.control.speedup.cpu_per_request];
        let noise = noise.iter().flatten().max_by(|a, b| a.reach().total_cmp(&b.reach()));
        let mut row = vec![
            case.case.clone(),
            text(case.speedup.throughput),
            text(case.speedup.cpu_per_request),
            noise.map_or(NONE.into(), display::noise),
        ];
        if with_micro {
            row.push(micro.map_or(NONE.into(), factor));
        }
        row
    });
    out!("{}\n", display::table(&header, rows).trim_fmt());
    let confidence = record.cases.iter().filter_map(|case| case.speedup.throughput);
    let confidence = confidence.map(|speedup| speedup.confidence).reduce(f64::min);
    if let Some(confidence) = confidence {
        out!(
            "  In brackets: a {:.1} % interval, from pairs of runs.",
            (confidence * 1000.0).floor() / 10.0
        );
    }
    if record.quick {
        out!("  Quick figures are rough, and too few for a verdict: run without --quick for one.");
        return;
    }
    for case in &record.cases {
        if case.verdict != Verdict::Faster {
            let text = format!("{}: {}; {}", case.case, case.verdict, case.reason);
            out!("{}", display::paragraph(&text));
        }
    }
}

//! A comparison as tables and sentences for the terminal.

use comfy_table::Table;

use super::{CaseRecord, Record, VariantRecord};
use crate::{
    case::{BASELINE, CANDIDATE},
    display::{self, NONE, factor, significant, speedup, thousands, time_ms},
    stats::Speedup,
};

/// The variants of one case, side by side.
pub fn case_table(case: &CaseRecord) -> Table {
    let header = ["variant", "req/s", "p50", "p90", "p99", "CPU/req", "peak MiB", "errors"];
    display::table(&header, case.variants.iter().map(variant_row))
}

fn variant_row(variant: &VariantRecord) -> Vec<String> {
    let latency = variant.latency_ms;
    let bound = if latency.lower_bounds { "≥" } else { "" };
    let time = |ms| format!("{bound}{}", time_ms(ms));
    vec![
        variant.variant.clone(),
        significant(variant.throughput_rps),
        time(latency.p50),
        time(latency.p90),
        time(latency.p99),
        variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
        variant.peak_rss_mib.map_or(NONE.into(), significant),
        thousands((variant.wrong + variant.failed) as f64),
    ]
}

/// What a reader has to know of these figures, a line each.
pub fn notes(case: &CaseRecord) -> Vec<String> {
    let mut notes = Vec::new();
    for variant in &case.variants {
        if let Some(fault) = &variant.first_fault {
            notes.push(format!(
                "{}: {} wrong and {} failed answers, the first:\n        {fault}",
                variant.variant,
                thousands(variant.wrong as f64),
                thousands(variant.failed as f64)
            ));
        }
        if variant.latency_ms.lower_bounds {
            // Little's law for a closed loop: users = throughput * (latency + pause).
            let settled = case.users as f64 / variant.throughput_rps - case.think_ms as f64 / 1e3;
            notes.push(format!(
                "{}: {} of {} requests outlast their run: its latencies\n        \
                 are lower bounds. Once the queue has settled, Little's law\n        puts them at {settled:.0} s.",
                variant.variant,
                thousands(variant.unfinished as f64),
                thousands(variant.sent as f64)
            ));
        }
    }
    if case.variants.len() > 2 {
        let factors = case.variants.iter().filter_map(|variant| {
            let found = variant.speedup?.throughput?;
            Some(format!("{} {}", variant.variant, factor(found.estimate)))
        });
        let factors: Vec<_> = factors.collect();
        notes.push(format!("throughput over slow: {}", factors.join(", ")));
    }
    if let (Some(promised), Some(found)) = (case.promised_throughput, case.speedup.throughput)
        && found.estimate < promised
    {
        notes.push(format!(
            "the case promises {} in throughput and this run shows {}: is the machine busy?",
            factor(promised),
            factor(found.estimate)
        ));
    }
    notes
}

/// All cases, fixed against slow; `micro` gives Criterion's factor for a case.
pub fn summary_table(record: &Record, micro: impl Fn(&str) -> Option<f64>) -> Table {
    let micros: Vec<_> = record.cases.iter().map(|case| micro(&case.case)).collect();
    let with_micro = micros.iter().any(Option::is_some);
    let mut header = vec!["fixed beats slow by", "throughput", "CPU per request", "p50"];
    if with_micro {
        header.push("Criterion");
    }
    let rows = record.cases.iter().zip(micros).map(|(case, micro)| {
        let factors = case.speedup;
        let text = |found: Option<Speedup>| found.map_or(NONE.into(), |found| speedup(&found));
        let bounded = [BASELINE, CANDIDATE]
            .iter()
            .any(|name| case.variant(name).is_some_and(|variant| variant.latency_ms.lower_bounds));
        let latency = factors.latency_p50.map_or(NONE.into(), |found| {
            format!("{}{}", if bounded { "≥" } else { "" }, factor(found.estimate))
        });
        let mut row = vec![
            case.case.clone(),
            text(factors.throughput),
            text(factors.cpu_per_request),
            latency,
        ];
        if with_micro {
            row.push(micro.map_or(NONE.into(), factor));
        }
        row
    });
    display::table(&header, rows)
}

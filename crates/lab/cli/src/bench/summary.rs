//! A comparison as tables and sentences for the terminal.
//!
//! The heading of each table names its layer: a *claim* has an interval, an *illustration* does not,
//! and an *exact* figure does not need one.

use console::style;
use lab_display::{NONE, factor, plural, significant, speedup_or};
use lab_record::{
    CaseRecord, Record, claim_row, confidence, illustration_row, notes, open_loop_row,
};
use lab_stats::Verdict;

/// Prints one case: its variants layer by layer, then the verdict and the notes.
pub fn print_case(title: &str, case: &CaseRecord) {
    out!("{}  {title}", style(&case.case).bold().cyan());
    out!("{}", case.load);
    out!("{} of runs, {} s each\n", plural(case.pairs, "pair"), case.measurement_s);

    let baseline = format!("over {}", case.variants.first().map_or("", |first| &first.variant));
    let header = ["claim", "req/s", &baseline, "CPU/req", &baseline];
    out!("{}\n", lab_display::table(&header, case.variants.iter().map(claim_row)));
    let header = ["illustration", "p50", "p90", "p99", "peak MiB", "errors"];
    let rows = case.variants.iter().map(illustration_row);
    out!("{}\n", lab_display::table(&header, rows));

    if let Some(rate) = case.variants.iter().find_map(|variant| variant.open_loop.as_ref()) {
        let first = format!("illustration, open loop at {}/s", significant(rate.rate_per_s));
        let header = [first.as_str(), "p50", "p90", "p99", "queued", "errors"];
        let rows = case.variants.iter().filter_map(open_loop_row);
        out!("{}\n", lab_display::table(&header, rows));
    }
    let exact = case.variants.iter().map(|it| (it.variant.clone(), it.exact.clone()));
    let exact: Vec<_> = exact.collect();
    if exact.iter().any(|(_, counts)| !counts.is_empty()) {
        out!("{}\n", lab_display::counts("exact, per visit", &exact));
    }
    if case.speedup.throughput.is_some_and(|speedup| speedup.is_confident()) {
        out!("  {}", style(case.verdict).bold());
        out!("{}", lab_display::paragraph(&case.reason));
    }
    for note in notes(case) {
        out!("{}", lab_display::paragraph(&format!("note: {note}")));
    }
    out!();
}

/// Prints all cases, `fixed` against `slow`; `micro` returns Criterion's factor for a case.
pub fn print_summary(record: &Record, micro: impl Fn(&str) -> Option<f64>) {
    let micros: Vec<_> = record.cases.iter().map(|case| micro(&case.case)).collect();
    let with_micro = micros.iter().any(Option::is_some);
    let mut header = vec!["claim: fixed is", "pairs", "by req/s", "by CPU per req", "A/A noise"];
    if with_micro {
        header.push("Criterion");
    }
    let rows = record.cases.iter().zip(micros).map(|(case, micro)| {
        let mut row = vec![
            case.case.clone(),
            case.pairs.to_string(),
            speedup_or(NONE, case.speedup.throughput),
            speedup_or(NONE, case.speedup.cpu_per_request),
            case.worst_noise().map_or(NONE.into(), |noise| lab_display::noise(&noise)),
        ];
        if with_micro {
            row.push(micro.map_or(NONE.into(), factor));
        }
        row
    });
    out!("{}\n", lab_display::table(&header, rows));
    if let Some(confidence) = confidence(&record.cases) {
        out!("  The brackets show a {confidence} interval, from pairs of runs.");
    }
    if record.quick {
        out!("  These figures are too few for a verdict; run without --quick to get one.");
        return;
    }
    for case in &record.cases {
        if case.verdict != Verdict::Faster {
            let text = format!("{}: {}; {}", case.case, case.verdict, case.reason);
            out!("{}", lab_display::paragraph(&text));
        }
    }
}

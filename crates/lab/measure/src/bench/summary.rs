//! A comparison as tables and sentences for the terminal.
//!
//! The heading of each table names its layer: a *claim* has an interval, an *illustration* does not,
//! and an *exact* figure does not need one.

use console::style;
use lab_display::{NONE, factor, out, plural, speedup_or};
use lab_model::{
    Case, CaseRecord, Record, claim_row, confidence, latency_rows, metric_rows, notes,
    open_loop_rows,
};
use lab_stats::Verdict;

/// Prints one case: its variants layer by layer, then the verdict and the notes.
pub fn print_case(title: &str, case: &CaseRecord) {
    out!("{}  {title}", style(&case.case).bold().cyan());
    out!("{}", case.load);
    let layouts = case.layouts.map_or(String::new(), |it| format!(", in {it} layouts in turn"));
    out!("{} of runs, {} s each{layouts}\n", plural(case.pairs, "pair"), case.measurement_s);

    let baseline = format!("over {}", case.variants.first().map_or("", |first| &first.variant));
    // Of two variants, the next table has the factors.
    let columns: &[usize] = if case.variants.len() > 2 { &[0, 1, 2, 3, 4] } else { &[0, 1, 3] };
    let header = ["claim", "req/s", &baseline, "CPU/req", &baseline];
    let header: Vec<_> = columns.iter().map(|column| header[*column]).collect();
    let claims = case.variants.iter().map(claim_row);
    let claims = claims.map(|row| columns.iter().map(|column| row[*column].clone()).collect());
    out!("{}\n", lab_display::table(&header, claims.collect::<Vec<Vec<_>>>()));
    let metrics = metric_rows(case);
    if let (Some((_, candidate)), false) = (case.sides(), metrics.is_empty()) {
        let first = format!("claim: {}", candidate.variant);
        let header = [first.as_str(), &baseline, "A/A noise", "shows"];
        out!("{}\n", lab_display::table(&header, metrics));
    }
    let (percentiles, rows) = latency_rows(case);
    let header: Vec<_> = std::iter::once("illustration").chain(percentiles).collect();
    out!("{}\n", lab_display::table(&header, rows));

    if let Some(open_loop) = case.variants.iter().find_map(|variant| variant.open_loop.as_ref()) {
        let (percentiles, rows) = open_loop_rows(case);
        let header: Vec<_> = std::iter::once("open loop").chain(percentiles).collect();
        out!("  illustration, open loop: {}", open_loop.arrivals_in_words());
        out!("{}\n", lab_display::table(&header, rows));
    }
    let exact = case.variants.iter().map(|it| (it.variant.clone(), it.exact.clone()));
    let exact: Vec<_> = exact.collect();
    if exact.iter().any(|(_, counts)| !counts.is_empty()) {
        out!("{}\n", lab_display::counts("exact, per visit", &exact));
    }
    out!("  {}", style(case.verdict).bold());
    out!("{}", lab_display::paragraph(&case.reason));
    for note in notes(case) {
        out!("{}", lab_display::paragraph(&format!("note: {note}")));
    }
    out!();
}

/// Prints all cases, `fixed` against `slow`; `micro` returns Criterion's factor for a case.
pub fn print_summary(record: &Record, cases: &[Case], micro: impl Fn(&str) -> Option<f64>) {
    let shown = |name: &String| {
        let case = cases.iter().find(|case| case.name == *name);
        case.map_or(name, |case| &case.shown).clone()
    };
    let micros: Vec<_> = record.cases.iter().map(|case| micro(&case.case)).collect();
    let mut header = vec!["claim: fixed is", "", "by req/s", "by CPU per req"];
    let with_micro = micros.iter().any(Option::is_some);
    header.extend(with_micro.then_some("Criterion"));
    let rows = record.cases.iter().zip(micros).map(|(case, micro)| {
        let [cpu, _] = case.cpu_in_words();
        let mut row = vec![
            shown(&case.case),
            case.verdict.to_string(),
            speedup_or(NONE, case.speedup.throughput),
            cpu,
        ];
        row.extend(with_micro.then(|| micro.map_or(NONE.into(), factor)));
        row
    });
    out!("{}\n", lab_display::table(&header, rows));
    if let Some(confidence) = confidence(&record.cases) {
        out!("  The brackets show a {confidence} interval, from pairs of runs.");
    }
    if record.quick {
        out!(
            "  A quick run is short, so its figures are rough. Quote those of a run without --quick."
        );
    }
    for case in &record.cases {
        if case.verdict != Verdict::Faster {
            let text = format!("{}: {}; {}", shown(&case.case), case.verdict, case.reason);
            out!("{}", lab_display::paragraph(&text));
        }
    }
}

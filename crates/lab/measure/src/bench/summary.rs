//! A comparison as tables and sentences for the terminal.

use std::fmt::Write as _;

use console::style;
use lab_display::{
    NONE, factor, heading, noted, out, paragraph, plural, reason,
    tables::{arrivals, confidence, summary, tables},
};
use lab_model::{Case, CaseRecord, Record, notes};
use lab_stats::Verdict;

/// Prints one case: its variants layer by layer, then the verdict and the notes.
pub fn print_case(title: &str, case: &CaseRecord) {
    out!("{}", shown(title, case));
}

fn shown(title: &str, case: &CaseRecord) -> String {
    let layouts = case.layouts.map_or(String::new(), |it| format!(", in {it} layouts in turn"));
    let mut text = format!(
        "{}\n{}\n{} of runs, {} s each{layouts}\n\n",
        heading(&case.case, title),
        case.load,
        plural(case.pairs, "pair"),
        case.measurement_s
    );
    for table in tables(case) {
        let open_loop = case.variants.iter().find_map(|variant| variant.open_loop.as_ref());
        if let Some(open_loop) = open_loop.filter(|_| table.head[0] == "open loop") {
            let arrivals = arrivals(open_loop);
            let _ = writeln!(text, "  illustration, open loop: {arrivals}");
        }
        let _ = writeln!(text, "{}\n", table.text());
    }
    let _ = writeln!(text, "  {}\n{}", style(case.verdict).bold(), paragraph(&reason(case)));
    for note in notes(case) {
        let _ = writeln!(text, "{}", paragraph(&noted(&note)));
    }
    text
}

/// Prints all cases, `fixed` against `slow`; `micro` returns Criterion's factor for a case.
pub fn print_summary(record: &Record, cases: &[Case], micro: impl Fn(&str) -> Option<f64>) {
    let micros: Vec<_> = record.cases.iter().map(|case| micro(&case.case)).collect();
    let mut shown = record.cases.clone();
    for case in &mut shown {
        if let Some(about) = cases.iter().find(|about| about.name == case.case) {
            case.case.clone_from(&about.shown);
        }
    }
    let mut table = summary(&shown).columns(&[0, 5, 1, 3]);
    if micros.iter().any(Option::is_some) {
        table.head.push("Criterion".to_owned());
        for (row, micro) in table.rows.iter_mut().zip(micros) {
            row.push(micro.map_or(NONE.into(), factor));
        }
    }
    out!("{}\n", table.text());
    if let Some(confidence) = confidence(&record.cases) {
        out!("  The brackets show a {confidence} interval, from pairs of runs.");
    }
    if record.quick {
        out!(
            "  A quick run is short, so its figures are rough. Quote those of a run without --quick."
        );
    }
    for case in shown.iter().filter(|case| case.verdict != Verdict::Faster) {
        out!("{}", paragraph(&format!("{}: {}; {}", case.case, case.verdict, reason(case))));
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

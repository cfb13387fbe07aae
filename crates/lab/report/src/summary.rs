//! A comparison as tables and sentences for the terminal.

use std::fmt::Write as _;

use crate::{CaseRecord, Record, notes};
use console::style;
use lab_stats::Verdict;

use crate::{
    NONE, factor, heading, noted, paragraph, reason,
    tables::{confidence, how_measured, summary, tables},
};

/// One case: its variants layer by layer, then the verdict and the notes.
pub fn comparison(title: &str, case: &CaseRecord) -> String {
    let mut text = format!("{}\n{}\n\n", heading(&case.case, title), how_measured(case));
    for table in tables(case) {
        let _ = writeln!(text, "{}\n", table.text());
    }
    let _ = writeln!(text, "  {}\n{}", style(case.verdict).bold(), paragraph(&reason(case)));
    for note in notes(case) {
        let _ = writeln!(text, "{}", paragraph(&noted(&note)));
    }
    text
}

/// All cases, `fixed` against `slow`, with Criterion's factor for each that has one.
pub fn overview(record: &Record, micros: Vec<Option<f64>>) -> String {
    let mut table = summary(&record.cases).columns(&[0, 5, 1, 3]);
    if micros.iter().any(Option::is_some) {
        table.head.push("Criterion".to_owned());
        for (row, micro) in table.rows.iter_mut().zip(micros) {
            row.push(micro.map_or(NONE.into(), factor));
        }
    }
    let mut text = format!("{}\n\n", table.text());
    if let Some(confidence) = confidence(&record.cases) {
        let _ = writeln!(text, "  The brackets show a {confidence} interval, from pairs of runs.");
    }
    if record.quick {
        text += "  A quick run is short, so its figures are rough. Quote those of a run without --quick.\n";
    }
    for case in record.cases.iter().filter(|case| case.verdict != Verdict::Faster) {
        let verdict = format!("{}: {}; {}", case.case, case.verdict, reason(case));
        let _ = writeln!(text, "{}", paragraph(&verdict));
    }
    text
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;

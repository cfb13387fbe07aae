//! A comparison as tables and sentences for the terminal.

use std::fmt::Write as _;

use crate::{CaseRecord, Record, notes};
use console::{Term, measure_text_width, style, user_attended};
use lab_model::Metric;
use lab_stats::Verdict;

use crate::{
    NONE, Table, factor, heading, noted, paragraph, reason,
    screen::coloured,
    tables::{confidence, factor_of, figures_of, how_measured, tables},
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

/// What to know of a quick run.
pub const QUICK: &str = "  A quick run is rough: quote figures of a run without --quick.";

/// All cases, a row each: the verdict, by how much, and from what to what.
pub fn cases(cases: &[CaseRecord]) -> Table {
    let row = |case: &CaseRecord| {
        let [from, to] = figures_of(case, case.metric);
        let unit = match case.metric {
            Metric::Time => String::new(),
            metric => format!(" {}", case.short(metric)),
        };
        let change = format!("{from} → {to}{unit}");
        let factor = factor_of(&case.speedup, case.metric);
        vec![case.case.clone(), case.verdict.to_string(), factor, change]
    };
    let names = cases.first().map(CaseRecord::names);
    let [slow, fixed] = names.unwrap_or(["slow", "fixed"]);
    let head = ["", "verdict", "factor", &format!("{slow} → {fixed}")];
    let caption = confidence(cases).map_or(String::new(), |confidence| {
        format!("The brackets show a {confidence} interval, from pairs of runs.")
    });
    Table::new(caption, head, cases.iter().map(row))
}

/// The column of [`overview`] that a narrow terminal leaves out.
const FIGURES: usize = 3;

/// All cases, with Criterion's factor for each that has one.
pub fn overview(record: &Record, micros: Vec<Option<f64>>) -> String {
    let mut table = cases(&record.cases);
    if micros.iter().any(Option::is_some) {
        table.head.push("Criterion".to_owned());
        for (row, micro) in table.rows.iter_mut().zip(micros) {
            row.push(micro.map_or(NONE.into(), factor));
        }
    }
    // At 80 columns, wide intervals leave no room for the figures.
    let figures = table.head[FIGURES].clone();
    let table = fitting(table, &[&figures]);
    let mut text = format!("\n{}\n\n", with_verdicts(&table, &record.cases));
    if !table.caption.is_empty() {
        let _ = writeln!(text, "  {}", table.caption);
    }
    if record.quick {
        text += QUICK;
        text.push('\n');
    }
    for case in record.cases.iter().filter(|case| case.verdict != Verdict::Faster) {
        let verdict = format!("{}: {}; {}", case.case, case.verdict, reason(case));
        let _ = writeln!(text, "{}", paragraph(&verdict));
    }
    text
}

/// A table without those of these columns, first to last, that a narrow terminal has no room for.
pub fn fitting(mut table: Table, less: &[&str]) -> Table {
    let width = if user_attended() { Term::stdout().size().1.into() } else { usize::MAX };
    let is_wide = |table: &Table| table.text().lines().any(|it| measure_text_width(it) > width);
    for name in less {
        if is_wide(&table) {
            let kept: Vec<_> =
                (0..table.head.len()).filter(|at| table.head[*at] != *name).collect();
            table = table.columns(&kept);
        }
    }
    table
}

/// The text of a table whose rows begin with the name of a case, each verdict in its colour.
pub fn with_verdicts(table: &Table, cases: &[CaseRecord]) -> String {
    let row = |(line, row): (&str, Option<&Vec<String>>)| {
        let case = row.and_then(|row| cases.iter().find(|case| case.case == row[0]));
        case.map_or(line.to_owned(), |case| {
            let verdict = case.verdict.to_string();
            line.replacen(&verdict, &coloured(case.verdict, &verdict), 1)
        })
    };
    let rows = [None].into_iter().chain(table.rows.iter().map(Some));
    let text = table.text();
    text.lines().zip(rows).map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;

//! An answer in a terminal. Only here, a meaning becomes a colour.

use std::fmt::Write as _;

use console::{
    Alignment, Color, StyledObject, Term, measure_text_width, pad_str, style, user_attended,
};
use lab_protocol::Note;
use lab_stats::Verdict;

use crate::{
    BesidesAnswer, CaseRecord, Cell, ComparisonAnswer, FirstNotes, Headline, Meaning, NoteLine,
    Table, VerdictGroup, column, heading, noted, notes, paragraph, plural, reason, shortened,
    tables::{how_measured, tables},
};

/// The warning of a quick run.
pub const QUICK: &str = "  A quick run is rough: quote figures of a run without --quick.";
/// The number of undecided candidates whose reasons are shown.
const REASONS: usize = 2;
/// The number of candidates whose differences besides their code are shown.
const BESIDES: usize = 3;

/// A comparison in a dozen lines: the answer, one table, and what to know. `label` is the name of the case, or empty.
/// `more` says how to see the rest.
pub fn render_screen(label: &str, answer: &ComparisonAnswer, more: &str) -> String {
    let table = fitting(&answer.table, &answer.spare_columns).text();
    let mut text = format!("{}\n\n{table}\n\n", render_line(label, answer));
    if !answer.how.is_empty() {
        let _ = writeln!(text, "{}", paragraph(&answer.how));
    }
    let requests = &answer.requests;
    if !requests.rows.is_empty() {
        let _ = writeln!(text, "\n{}\n\n{}", requests.text(), paragraph(&requests.caption));
    }
    text += &besides(answer);
    if matches!(answer.headline, Headline::Candidates(_)) {
        text += &undecided(answer);
    }
    text + &closing(&answer.notes, more)
}

/// The verdict in a line; where nothing is decided, why in another one.
pub fn render_line(label: &str, answer: &ComparisonAnswer) -> String {
    match &answer.headline {
        Headline::Case { before, verdict, after } => {
            let label =
                if label.is_empty() { String::new() } else { format!("{}  ", style(label).bold()) };
            let indent = 2 + measure_text_width(&label);
            let verdict = coloured(Meaning::Verdict(*verdict), &verdict.to_string());
            let mut text =
                column(indent, &format!("  {label}"), &format!("{before}{verdict}{after}"));
            for reason in answer.reasons.iter().filter(|reason| !reason.is_decided()) {
                let _ = write!(text, "\n{}", paragraph(&reason.sentence));
            }
            text
        }
        Headline::Candidates(groups) | Headline::Cases { groups, .. } => {
            let of = |group: &VerdictGroup| {
                let verdict = coloured(Meaning::Verdict(group.verdict), &group.verdict.to_string());
                format!("{verdict}: {}", style(group.in_words()).bold())
            };
            paragraph(&groups.iter().map(of).collect::<Vec<_>>().join("; "))
        }
    }
}

/// What the first candidates differ in besides their code, a line each.
fn besides(answer: &ComparisonAnswer) -> String {
    let mut text = String::new();
    for besides in answer.besides.iter().take(BESIDES) {
        let _ = writeln!(text, "{}", paragraph(&besides.line));
    }
    let rest = answer.besides.len().saturating_sub(BESIDES);
    if rest > 0 {
        let _ = writeln!(text, "  and {rest} more differ besides their code: -v");
    }
    text
}

/// What each candidate differs in besides its code, in full. Empty if nothing is known to differ.
pub fn render_besides(answer: &ComparisonAnswer) -> String {
    let mut text = String::new();
    for BesidesAnswer { line, table, .. } in &answer.besides {
        let _ = writeln!(text, "{}\n\n{}\n", paragraph(line), table.text());
    }
    text
}

/// Why the first candidates are undecided.
fn undecided(answer: &ComparisonAnswer) -> String {
    let mut text = String::new();
    let all = answer.reasons.iter().filter(|reason| reason.verdict == Verdict::Undecided);
    for reason in all.clone().take(REASONS) {
        let why = format!("{}: {}", shortened(&reason.case), reason.sentence);
        let _ = writeln!(text, "{}", paragraph(&why));
    }
    let rest = all.count().saturating_sub(REASONS);
    if rest > 0 {
        let _ = writeln!(text, "{}", paragraph(&format!("and {rest} more undecided: -v")));
    }
    text
}

/// The end of the screen of something else: the first notes, and how to see the rest.
pub fn render_notes(notes: Vec<Note>, more: &str) -> String {
    closing(&FirstNotes::of(notes), more)
}

fn closing(notes: &FirstNotes, more: &str) -> String {
    let mut text = String::new();
    for NoteLine { code, text: said } in &notes.lines {
        let code = code.as_ref().map_or("note".to_owned(), |code| format!("note[{code}]"));
        let _ = writeln!(text, "{}", paragraph(&format!("{}: {said}", style(code).yellow())));
    }
    let rest = match notes.rest {
        0 => "more: ".to_owned(),
        rest => format!("and {}: ", plural(rest, "more note")),
    };
    let _ = writeln!(text, "{}", paragraph(&format!("{rest}{more}")));
    text
}

/// All cases, a row each, and why some aren't faster. Each of them has been shown before.
pub fn render_overview(answer: &ComparisonAnswer) -> String {
    let table = fitting(&answer.table, &answer.spare_columns).text();
    let mut text = format!("\n{table}\n\n");
    if !answer.how.is_empty() {
        let _ = writeln!(text, "  {}", answer.how);
    }
    if answer.is_quick {
        let _ = writeln!(text, "{QUICK}");
    }
    for reason in answer.reasons.iter().filter(|reason| reason.verdict != Verdict::Faster) {
        let why = format!("{}: {}; {}", reason.case, reason.verdict, reason.of_metric);
        let _ = writeln!(text, "{}", paragraph(&why));
    }
    text
}

/// The full text of a case: its variants layer by layer, then the verdict and the notes.
pub fn render_tables(title: &str, case: &CaseRecord) -> String {
    let mut text = format!("{}\n{}\n\n", heading(case.case.as_str(), title), how_measured(case));
    for table in tables(case) {
        let _ = writeln!(text, "{}\n", table.text());
    }
    let _ = writeln!(text, "  {}\n{}", style(case.verdict).bold(), paragraph(&reason(case)));
    for note in notes(case) {
        let _ = writeln!(text, "{}", paragraph(&noted(&note)));
    }
    text
}

impl Table {
    /// Aligned, without lines, and without the middle of a long name: the first column is left-aligned, the others
    /// right-aligned.
    pub fn text(&self) -> String {
        let head: Vec<_> = self.head.iter().map(|name| shown(&name.as_str().into())).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>());
        let rows: Vec<_> = [head].into_iter().chain(rows).collect();
        let mut widths = vec![0; rows.iter().map(Vec::len).max().unwrap_or(0)];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        let line = |row: &Vec<String>| {
            let mut line = " ".to_owned();
            for (nth, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let side = if nth == 0 { Alignment::Left } else { Alignment::Right };
                let _ = write!(line, " {} ", pad_str(cell, *width, side, None));
            }
            line.trim_end().to_owned()
        };
        let lead = self.lead.as_ref().map_or(String::new(), |lead| format!("  {lead}\n"));
        lead + &rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn shown(cell: &Cell) -> String {
    coloured(cell.meaning, &shortened(&cell.text.replace('\n', " ")))
}

/// The word is always there, too.
fn coloured(meaning: Meaning, text: &str) -> String {
    match meaning {
        Meaning::Plain | Meaning::Case | Meaning::Decides => text.to_owned(),
        Meaning::Verdict(verdict) => in_colour(verdict, style(text).bold()),
        Meaning::Factor(verdict) => in_colour(verdict, style(text)),
    }
}

fn in_colour(verdict: Verdict, text: StyledObject<&str>) -> String {
    let colour = match verdict {
        Verdict::Faster | Verdict::SlightlyFaster => Color::Green,
        Verdict::Slower | Verdict::SlightlySlower => Color::Red,
        Verdict::Undecided => Color::Yellow,
        Verdict::Equivalent => return text.to_string(),
    };
    text.fg(colour).to_string()
}

/// A table without those of these columns, first to last, that a narrow terminal has no room for.
fn fitting(table: &Table, spare: &[String]) -> Table {
    let width = if user_attended() { Term::stdout().size().1.into() } else { usize::MAX };
    let is_wide = |table: &Table| table.text().lines().any(|line| measure_text_width(line) > width);
    let mut table = table.clone();
    for name in spare {
        if is_wide(&table) {
            let is_kept = |at: &usize| table.head[*at] != *name;
            let kept: Vec<_> = (0..table.head.len()).filter(is_kept).collect();
            table = table.columns(&kept);
        }
    }
    table
}

#[cfg(test)]
mod tests;

//! The answer of a comparison, as data: the verdict, one table, and the notes to know.
//!
//! A terminal, a comment and a page begin with it. They choose its form and its colours, and no words.

mod besides;
mod first_notes;
mod headline;
mod rows;

use lab_protocol::{Note, NoteKind};
use lab_stats::Verdict;

pub use besides::BesidesAnswer;
pub(crate) use besides::difference_in_words;
pub use first_notes::{FirstNotes, NoteLine};
pub use headline::{Headline, VerdictGroup, worst};

use crate::{
    CaseRecord, Record, Table, notes, plus_minus, reason, request_table, sentence,
    tables::how_measured,
};

/// The answer of one comparison or of several: what a screen, a comment and a page show before everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonAnswer {
    pub headline: Headline,
    /// Why each case has its verdict. Only where nothing is decided, everybody has to know it.
    pub reasons: Vec<VerdictReason>,
    pub table: Table,
    /// Columns of the table that a narrow terminal leaves out, first to last.
    pub spare_columns: Vec<String>,
    /// The requests of a visit that changed most, if it has several.
    pub requests: Table,
    /// A paragraph on the noise, on how the figures were measured, and on the confidence of the intervals.
    pub how: String,
    /// What the builds differ in besides their code; empty if nothing is known to differ.
    pub besides: Vec<BesidesAnswer>,
    /// Empty for cases: each has an answer with its own.
    pub notes: FirstNotes,
    /// Whether it was made with `--quick`.
    pub is_quick: bool,
}

/// Why a case has its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictReason {
    pub case: String,
    pub verdict: Verdict,
    pub sentence: String,
    /// The sentence after the metric that decides.
    pub of_metric: String,
}

impl VerdictReason {
    fn of(case: &CaseRecord) -> Self {
        Self {
            case: case.case.to_string(),
            verdict: case.verdict,
            sentence: sentence(&case.reason),
            of_metric: reason(case),
        }
    }

    pub fn is_decided(&self) -> bool {
        self.verdict.direction() != 0
    }
}

impl ComparisonAnswer {
    /// The answer of one call of `lab bench` or `lab compare`.
    pub fn of(record: &Record) -> Self {
        let answer = match &record.cases[..] {
            [case] => Self::of_case(case),
            cases if record.is_of_own_servers() => Self::of_candidates(cases),
            cases => Self::of_cases(cases),
        };
        Self { is_quick: record.quick, ..answer }
    }

    /// The answer of one comparison: a row for each metric, or a row for each server if there are more than two.
    pub fn of_case(case: &CaseRecord) -> Self {
        Self {
            headline: Headline::of_case(case),
            reasons: vec![VerdictReason::of(case)],
            table: rows::of_case(case),
            requests: request_table::on_screen(case),
            spare_columns: Vec::new(),
            how: noise(case),
            besides: BesidesAnswer::of(std::slice::from_ref(case)),
            notes: FirstNotes::of_comparison(notes(case)),
            is_quick: false,
        }
    }

    /// The answer of several candidates against one baseline: a row for each candidate.
    pub fn of_candidates(cases: &[CaseRecord]) -> Self {
        Self {
            headline: Headline::Candidates(headline::by_verdict(cases)),
            reasons: cases.iter().map(VerdictReason::of).collect(),
            table: rows::of_candidates(cases),
            requests: Table::default(),
            spare_columns: rows::SPARE.map(str::to_owned).into(),
            how: cases.first().map(rows::how).unwrap_or_default(),
            besides: BesidesAnswer::of(cases),
            notes: FirstNotes::of_comparison(cases.iter().flat_map(named_notes).collect()),
            is_quick: false,
        }
    }

    /// The answer of several cases, which have nothing in common: a row for each case.
    pub fn of_cases(cases: &[CaseRecord]) -> Self {
        let table = rows::of_cases(cases);
        Self {
            headline: Headline::of_cases(cases),
            reasons: cases.iter().map(VerdictReason::of).collect(),
            // At 80 columns, wide intervals leave no room for the figures.
            spare_columns: table.head.get(rows::FIGURES).cloned().into_iter().collect(),
            how: table.caption.clone(),
            besides: Vec::new(),
            table,
            requests: Table::default(),
            notes: FirstNotes::default(),
            is_quick: false,
        }
    }
}

/// `noise ±2.4 %: two equal servers could differ by that; 4 users, without a pause; 6 pairs of runs; 96.8 % intervals`
fn noise(case: &CaseRecord) -> String {
    let noise = case.noise(case.metric).map_or("noise unknown".to_owned(), |noise| {
        format!("noise {}: two equal servers could differ by that", plus_minus(noise))
    });
    format!("{noise}; {}", in_pairs(case))
}

/// How it was measured, and how sure its intervals are.
fn in_pairs(case: &CaseRecord) -> String {
    let confidence = case.speedup.of(case.metric).map_or(String::new(), |found| {
        // Rounded down: 94.99 % is not 95 %.
        format!("; {:.1} % intervals", (found.confidence * 1000.0).floor() / 10.0)
    });
    format!("{}{confidence}", how_measured(case))
}

/// The notes of a case, with its candidate's name on those that are about its verdict.
fn named_notes(case: &CaseRecord) -> Vec<Note> {
    let named = |note| match note {
        Note::Known {
            variant: None,
            kind:
                kind @ (NoteKind::Contradiction { .. }
                | NoteKind::TailsApart { .. }
                | NoteKind::FallsBehind { .. }),
        } => Note::of(case.names()[1], kind),
        other => other,
    };
    notes(case).into_iter().map(named).collect()
}

#[cfg(test)]
mod tests;

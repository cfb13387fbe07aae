//! The record of a comparison, and every word about a result.
//!
//! A [`Record`] is what `lab bench --json` prints: every run, the figures and the verdict that follow from them, the
//! machine and the build. [`notes()`] says what limits its figures, and a [`Store`] keeps records. Everything else
//! turns results into text: figures with their units, the sentences of codes, tables, and a comparison in the terminal
//! and as a comment. Functions say in their names which unit they expect.

#![warn(clippy::missing_errors_doc)]

mod answer;
mod cell;
mod codes;
mod conditions;
mod decline;
#[cfg(test)]
mod examples;
mod growth;
mod html;
mod language;
mod markdown;
mod notes;
mod objective;
pub mod origin;
mod pair_table;
mod record;
mod request_table;
mod search;
mod slowest;
mod store;
mod table;
pub mod tables;
mod tail;
mod terminal;
mod weight;
mod words;

pub use answer::{
    BesidesAnswer, ComparisonAnswer, FirstNotes, Headline, NoteLine, VerdictGroup, VerdictReason,
    worst,
};
pub use cell::{Cell, Meaning};
pub use codes::{
    EXPLANATIONS, Explanation, NOISE, code, explained, for_programs, noted, notes_for_programs,
    reason, sentence, to_json,
};
pub use conditions::Neighbours;
pub use growth::{Growth, growth};
pub use language::{TextLanguage, chinese, filled, listed, translated};
pub use markdown::render_comment;
pub use notes::notes;
pub use objective::{
    HighestRate, Limited, ObjectiveAnswer, ObjectiveComparison, ObjectiveSearch, RateRun, Shortfall,
};
pub use record::{
    CaseName, CaseRecord, Control, Latencies, OpenLoopRecord, Record, RequestCounts, RequestRecord,
    Run, VERSION, VariantRecord,
};
pub use search::{
    ChangeKind, SearchAnswer, decided_in_words, ends_in_words, render_search, search_for_programs,
};
pub use slowest::{slowest, slowest_or_none};
pub use store::{Store, read};
pub use table::{Table, count_table};
pub use tail::TailAnswer;
pub use terminal::{
    QUICK, render_besides, render_line, render_notes, render_overview, render_screen, render_tables,
};
pub use weight::{per_request, weight};
pub use words::*;

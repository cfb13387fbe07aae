//! The record of a comparison, and every word about a result.
//!
//! A [`Record`] is what `lab bench --json` prints: every run, the figures and the verdict that follow from them, the
//! machine and the build. [`notes()`] says what limits its figures, and a [`Store`] keeps records. Everything else turns
//! results into text: figures with their units, the sentences of codes, tables, and a comparison in the terminal and
//! as a comment. Functions say in their names which unit they expect.

mod candidates;
mod codes;
mod comment;
mod conditions;
mod decline;
mod document;
mod growth;
mod language;
mod notes;
pub mod origin;
pub mod screen;
mod store;
mod summary;
mod table;
pub mod tables;
mod template;
mod weight;
mod words;

pub use candidates::{rows, screen_of_candidates, tally, worst};
pub use codes::{
    EXPLANATIONS, Explanation, NOISE, code, document, explained, for_programs, noted,
    notes_for_programs, reason, sentence,
};
pub use comment::comment;
pub use conditions::Neighbours;
pub use document::{
    CaseRecord, Control, Latencies, OpenLoopRecord, Record, RequestCounts, Run, VERSION,
    VariantRecord,
};
pub use growth::{Growth, growth};
pub use language::{SpokenLanguage, chinese, filled, listed, told};
pub use notes::notes;
pub use screen::{answer, closing, screen};
pub use store::{Store, read};
pub use summary::{QUICK, cases, comparison, overview};
pub use table::{Table, count_table};
pub use template::Template;
pub use weight::{per_request, weight};
pub use words::*;

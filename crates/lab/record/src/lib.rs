//! The document of a comparison, and how it is kept.
//!
//! A [`Record`] is what `lab bench --json` prints: every run, what follows from the runs, and where
//! they were made. A [`Store`] keeps records in files. Fields and functions name their units.

pub mod criterion;
mod document;
mod files;
mod machine;
mod output;
mod rows;
mod store;

pub use document::{
    CaseRecord, Control, Latencies, OpenLoopRecord, Record, Run, Speedups, VERSION, VariantRecord,
};
pub use files::{write_new, write_whole};
pub use machine::{Build, Machine, load_average};
pub use output::Output;
pub use rows::{claim_row, illustration_row, notes, open_loop_row};
pub use store::{Store, read};

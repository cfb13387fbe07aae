//! The document of a comparison, and how it is kept.
//!
//! A [`Record`] is what `lab bench --json` prints: every run, the figures and the verdict that follow
//! from them, the machine and the build. A [`Store`] keeps records in files. Names of fields and
//! functions include the unit.

pub mod criterion;
mod document;
mod files;
mod machine;
mod modes;
mod notes;
mod output;
mod percentile;
mod rows;
mod store;

pub use document::{
    CaseRecord, Control, Latencies, Metric, OpenLoopRecord, Record, Requests, Run, Speedups,
    VERSION, VariantRecord,
};
pub use files::write_whole;
pub use machine::{Build, Machine, load_average, output_of};
pub use modes::second_mode;
pub use notes::notes;
pub use output::Output;
pub use percentile::{ByPercentile, Percentile};
pub use rows::{claim_row, confidence, latency_rows, metric_rows, open_loop_rows};
pub use store::{Store, read};

//! What is measured and recorded, as data.
//!
//! A [`LoadPlan`] says what a load generator sends, and an [`Outcome`] what it measured. A [`Record`] is
//! what `lab bench --json` prints: every run, the figures and the verdict that follow from them, the
//! machine and the build. A [`Store`] keeps records in files. Names of fields and functions include the
//! unit.

mod check;
pub mod criterion;
mod document;
mod files;
mod latency;
mod machine;
mod modes;
mod notes;
mod outcome;
mod output;
mod percentile;
mod plan;
mod punctuality;
mod rows;
mod seconds;
mod store;
mod target;

pub use check::{Answer, Check, Expected};
pub use document::{
    CaseRecord, Control, Latencies, Metric, OpenLoopRecord, Record, Requests, Run, Speedups,
    VERSION, VariantRecord,
};
pub use files::write_whole;
pub use latency::Latency;
pub use machine::{Build, Machine, load_average, output_of};
pub use modes::second_mode;
pub use notes::notes;
pub use outcome::{Engine, Outcome};
pub use output::Output;
pub use percentile::{ByPercentile, Percentile};
pub use plan::{Arrivals, Ask, EngineOptions, Load, LoadPlan, OpenLoop, Spacing};
pub use punctuality::Punctuality;
pub use rows::{claim_row, confidence, latency_rows, metric_rows, open_loop_rows};
pub use store::{Store, read};
pub use target::Target;

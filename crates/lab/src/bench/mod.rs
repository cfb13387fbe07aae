//! The comparison of a case's variants: interleaved runs, each on a fresh server.

mod progress;
mod record;
mod run;
mod summary;

pub use progress::Progress;
pub use record::{CaseRecord, Latencies, Record, Run, Speedups, VariantRecord};
pub use run::{Effort, ask_once, compare};
pub use summary::{case_table, notes, summary_table};

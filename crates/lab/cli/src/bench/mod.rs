//! Comparing servers: interleaved runs, each of a fresh process, and the record of them.

mod assess;
mod effort;
mod progress;
mod run;
mod summary;

pub use effort::Effort;
// The types by their former path.
pub use lab_record::{
    CaseRecord, Latencies, OpenLoopRecord, Record, Run, VariantRecord, claim_row, illustration_row,
    notes, open_loop_row,
};
pub use progress::Progress;
pub use run::{Comparison, asks, generate, visit_once};
pub use summary::{print_case, print_summary};

//! The comparison of servers: interleaved runs, each on a fresh process.

mod progress;
mod record;
mod run;
mod schedule;
mod summary;

pub use progress::Progress;
pub use record::{
    CaseRecord, Control, Latencies, OpenLoopRecord, Record, Run, Speedups, VERSION, VariantRecord,
};
pub use run::{Comparison, Effort, ask_once, asks, generate};
pub use schedule::{Slot, control_pairs, schedule};
pub(crate) use summary::{claim_row, illustration_row, notes, open_loop_row};
pub use summary::{print_case, print_summary};

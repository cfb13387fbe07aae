//! The comparison of servers: interleaved runs, each on a fresh process.

mod assess;
mod effort;
mod progress;
mod run;
mod summary;

pub use assess::case_record;
pub use effort::Effort;
// The types by their former path.
pub use lab_record::{CaseRecord, Record, VERSION, VariantRecord};
pub use progress::Progress;
pub use run::{Comparison, ask_once, asks, generate};
pub use summary::{print_case, print_summary};

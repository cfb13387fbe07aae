//! What is measured and recorded, as data.
//!
//! [`Workspace`] finds the cases, their binaries and the results; a [`Case`] is a `case.toml`. A
//! [`LoadPlan`] says what a load generator sends, and an [`Outcome`] what it measured. A [`Record`] is
//! what `lab bench --json` prints: every run, the figures and the verdict that follow from them, the
//! machine and the build. A [`Store`] keeps records in files. Names of fields and functions include the
//! unit.

mod case;
mod check;
mod counts;
pub mod criterion;
mod document;
mod exhibit;
mod files;
mod latency;
mod machine;
mod modes;
mod nearest;
mod notes;
mod outcome;
mod output;
mod overrides;
mod percentile;
mod plan;
mod punctuality;
mod request;
mod rows;
mod seconds;
mod store;
mod target;
mod unanswered;
pub mod words;
mod workspace;

pub use case::{BASELINE, CANDIDATE, Case, Companion, Promise, Sweep};
pub use check::{Answer, Check, Expected};
pub use counts::Reference;
pub use document::{
    CaseRecord, Control, Latencies, Metric, OpenLoopRecord, Record, Requests, Run, Speedups,
    VERSION, VariantRecord,
};
pub use exhibit::{Exhibit, Role, SpanKind, usual};
pub use files::write_whole;
pub use latency::Latency;
pub use machine::{Build, Machine, load_average, output_of};
pub use modes::second_mode;
pub use nearest::unknown;
pub use notes::notes;
pub use outcome::{Engine, Outcome};
pub use output::Output;
pub use overrides::Overrides;
pub use percentile::{ByPercentile, Percentile};
pub use plan::{Arrivals, Ask, EngineOptions, Load, LoadPlan, OpenLoop, Spacing};
pub use punctuality::Punctuality;
pub use request::{BodySource, Request};
pub use rows::{claim_row, confidence, latency_rows, metric_rows, open_loop_rows};
pub use store::{Store, read};
pub use target::Target;
pub use unanswered::Unanswered;
pub use workspace::{Workspace, find_bin_dir, lab_itself};

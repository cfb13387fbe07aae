//! What is measured and recorded, as data.
//!
//! A [`Case`] is a `case.toml`. A [`LoadPlan`] says what a load generator sends, and an [`Outcome`] what it
//! measured. A [`Record`] is what `lab bench --json` prints: every run, the figures and the verdict that follow
//! from them, the machine and the build. Names of fields and functions include the unit.

mod case;
mod check;
mod conditions;
mod counts;
mod criteria;
mod decline;
mod document;
mod exhibit;
mod expectations;
mod latency;
mod limits;
mod metric;
mod nearest;
mod note;
mod notes;
pub mod origin;
mod outcome;
mod overrides;
mod percentile;
mod plan;
mod plausible;
mod prediction;
mod request;
mod seconds;
#[cfg(test)]
mod tests;
mod unanswered;

pub use case::{BASELINE, CANDIDATE, Case, Companion, MINE, Promise, Sweep};
pub use check::{Answer, Check, Expected};
pub use conditions::{Listener, Neighbours};
pub use counts::Reference;
pub use criteria::{AtOnce, Change, Criteria, Innocent, Limits, Otherwise, Overtaking, Wait};
pub use document::{
    CaseRecord, Control, Latencies, OpenLoopRecord, Record, Requests, Run, VERSION, VariantRecord,
};
pub use exhibit::{Exhibit, Role, SpanKind, usual};
pub use expectations::without_expectations;
pub use latency::Latency;
pub use metric::{Metric, Speedups};
pub use nearest::{unknown, unknown_with_secrets};
pub use note::{Invalid, Kind, Limit, Note, Reason, Taken};
pub use notes::notes;
pub use outcome::{Engine, Outcome, Punctuality};
pub use overrides::Overrides;
pub use percentile::{ByPercentile, Percentile};
pub use plan::{
    Arrivals, Ask, Background, EngineOptions, Load, LoadPlan, OpenLoop, Spacing, Target,
};
pub use prediction::{Prediction, SUSPECTS, Suspect};
pub use request::Request;
pub use unanswered::Unanswered;

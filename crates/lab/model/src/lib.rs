//! What is measured, as data.
//!
//! A [`Case`] is a `case.toml`. A [`LoadPlan`] says what a load generator sends, and an [`Outcome`] what it
//! measured. Names of fields and functions include the unit.

mod case;
mod check;
mod counts;
mod criteria;
mod exhibit;
mod expectations;
mod latency;
mod limits;
mod listener;
mod metric;
mod nearest;
mod note;
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

pub use case::{BASELINE, CANDIDATE, Case, Companion, MINE, Promise, Sweep, a_request};
pub use check::{Answer, Check, Expected};
pub use counts::Reference;
pub use criteria::{AtOnce, Change, Criteria, Innocent, Limits, Otherwise, Overtaking, Wait};
pub use exhibit::{Exhibit, Role, SpanKind, usual};
pub use expectations::without_expectations;
pub use latency::Latency;
pub use listener::Listener;
pub use metric::{Metric, Speedups};
pub use nearest::{unknown, unknown_with_secrets};
pub use note::{Invalid, Kind, Limit, Note, Reason, Taken};
pub use outcome::{Engine, Outcome, Punctuality, is_zero};
pub use overrides::Overrides;
pub use percentile::{ByPercentile, Percentile};
pub use plan::{
    Arrivals, Ask, Background, EngineOptions, Load, LoadPlan, OpenLoop, Spacing, Target,
};
pub use prediction::{Prediction, SUSPECTS, Suspect};
pub use request::Request;
pub use unanswered::Unanswered;

//! The data that programs exchange: load plans, outcomes and notes.
//!
//! A [`LoadPlan`] says what a load generator sends, and an [`Outcome`] what it measured. Names of fields and functions
//! include the unit.

#![warn(clippy::missing_errors_doc)]

mod besides;
mod check;
mod drawn;
mod exhibit;
mod latency;
mod limits;
mod listener;
mod metric;
mod note;
mod objective;
mod outcome;
mod percentile;
mod plan;
mod plausible;
mod request_time;
mod seconds;
mod template;
mod unanswered;
mod visits;

pub use besides::{BesidesCode, BuildAspect, BuildDifference, HistoryChange};
pub use check::{Accepted, Answer, Check, Expected};
pub use drawn::{AnswerPart, DrawnValues, Keep, RequestSlot, joined, parts_of};
pub use exhibit::{Exhibit, Role, SpanKind, usual};
pub use latency::Latency;
pub use limits::within;
pub use listener::Listener;
pub use metric::{Metric, Speedups};
pub use note::{Invalid, Limit, Note, NoteKind, Reason, Taken};
pub use objective::Objective;
pub use outcome::{EngineInfo, Outcome, Punctuality, is_zero};
pub use percentile::{ByPercentile, Percentile};
pub use plan::{
    Arrivals, Background, EngineOptions, Http2, Load, LoadPlan, OpenLoop, Request, Spacing,
    StopWhen, Target,
};
pub use request_time::RequestTime;
pub use template::{Template, fill};
pub use unanswered::Unanswered;
pub use visits::{VisitEnd, VisitKind, Visits};

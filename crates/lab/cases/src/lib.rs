//! The files of the cases.
//!
//! A [`Case`] is a `case.toml`, and [`Workspace`] finds the cases, their binaries and the results. [`criterion`] reads
//! what Criterion left.

#![warn(clippy::missing_errors_doc)]

mod case;
mod counts;
mod criteria;
pub mod criterion;
mod drill;
mod expectations;
mod nearest;
mod overrides;
mod places;
mod prediction;
mod request;
mod translation;

pub use case::{Case, Companion, ContestRules, FIXED, MINE, Promise, SLOW, Sweep, a_request};
pub use counts::Reference;
pub use criteria::{AtOnce, Change, Criteria, Limits, Otherwise, Overtaking, Wait};
pub use drill::{DRILLS, Drill, DrillText, drills};
pub use expectations::without_expectations;
pub use nearest::{unknown, unknown_with_secrets};
pub use overrides::Overrides;
pub use places::{Workspace, lab_itself};
pub use prediction::{Prediction, SUSPECTS, SuspectKind};
pub use request::TimedRequest;
pub use translation::Translation;

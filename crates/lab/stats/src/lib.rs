//! Statistics of paired runs: the speedup, its interval, and the verdict.
//!
//! Numbers go in and numbers come out; nothing reads a clock or a file. [`schedule`] orders the runs
//! of a comparison. [`Speedup::of_pairs`] takes the ratio of each pair, a factor without a unit, and
//! returns an estimate with its interval. [`judge`] compares it with the noise and returns the
//! verdict.

#![warn(clippy::missing_errors_doc)]

mod bisection;
mod change_search;
mod evidence;
mod looks;
mod mean_ratio;
mod median;
mod queue;
mod random;
mod rate_ratio;
mod rate_search;
mod schedule;
mod share_difference;
mod signed_rank;
#[cfg(test)]
mod simulation;
mod speedup;
mod trend;
mod verdict;
mod wilson;

pub use bisection::{ERROR, Like};
pub use change_search::{ChangeSearch, NextRound};
pub use looks::Look;
pub use mean_ratio::mean_ratio;
pub use median::median_of;
pub use queue::md1_wait_ms;
pub use random::SplitMix64;
pub use rate_ratio::rate_ratio;
pub use rate_search::{RateEnd, RateInterval, RateSearch};
pub use schedule::{Slot, control_pairs, rounds, schedule};
pub use share_difference::share_difference;
pub use speedup::{Speedup, count_error};
pub use trend::{BLOCKS, Rise, Slope, Trend};
pub use verdict::{Judgement, Verdict, VerdictRule, judge};
pub use wilson::wilson;

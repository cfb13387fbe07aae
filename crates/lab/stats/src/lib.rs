//! What the figures of many runs say together: how fast, how sure, and whether that is enough.
//!
//! Numbers go in and numbers come out; there is no clock and no I/O. [`schedule`] orders the runs of
//! a comparison. [`Speedup::of_pairs`] takes the ratio of every pair, a factor without a unit, and
//! returns an estimate with its interval. [`judge`] compares that with the noise and returns the
//! verdict.

mod median;
mod schedule;
mod signed_rank;
#[cfg(test)]
mod simulation;
mod speedup;
mod verdict;

pub use median::median_of;
pub use schedule::{Slot, control_pairs, schedule};
pub use signed_rank::NOMINAL;
pub use speedup::Speedup;
pub use verdict::{Judgement, Verdict, judge};

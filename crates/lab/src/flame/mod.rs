//! Pictures that show a fault: where the time went in both variants, and what the fix removed.
//!
//! A profiler [records](recording) raw stacks, in samples. They are simplified, scaled to what one
//! request costs, and drawn on one scale for both variants, so that what the fix saves is a width
//! that can be seen.

mod folded;
mod recording;
mod rung;

pub use folded::Folded;
pub use recording::Recording;
pub use rung::Rung;

/// The line that a server which is built to be profiled prints before `listening on`: it does more
/// than the one that users run, and must never be timed.
pub const ANNOUNCEMENT: &str = "profiling";

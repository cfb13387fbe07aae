//! Pictures that show a fault: where the time went in both variants, and what the fix removed.
//!
//! A profiler [records](recording) raw stacks, in samples. They are simplified, scaled to what one
//! request costs, and drawn on one scale for both variants, so that what the fix saves is a width
//! that can be seen.

pub mod connections;
#[cfg(test)]
mod example;
pub mod exhibit;
mod folded;
pub mod mechanism;
pub mod output;
pub mod page;
pub mod picture;
pub mod record;
mod recording;
mod rung;
pub mod spans;
pub mod timeline;
pub mod waits;

pub use folded::Folded;
pub use recording::Recording;
pub use rung::Rung;

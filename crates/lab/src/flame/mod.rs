//! Pictures that show a fault: where the time went in both variants, and what the fix removed.
//!
//! A profiler [records](record) raw stacks, in samples. They are simplified, scaled to what one
//! request costs, and drawn on one scale for both variants, so that what the fix saves is a width
//! that can be seen.

mod colour;
pub mod connections;
mod differential;
#[cfg(test)]
mod example;
pub mod exhibit;
mod folded;
pub mod gallery;
mod graph;
pub mod mechanism;
mod meta;
mod names;
mod observe;
pub mod output;
pub mod page;
pub mod progress;
pub mod raw;
pub mod record;
mod recording;
mod rung;
mod scene;
pub mod spans;
mod svg;
pub mod timeline;
mod top;
mod tree;
mod unit;
mod view;
mod visits;
pub mod waits;

pub use colour::Kind;
pub use differential::Differential;
pub use folded::Folded;
pub use graph::Graph;
pub use meta::Meta;
pub use names::readable;
pub use observe::Observation;
pub use recording::Recording;
pub use rung::Rung;
pub use scene::{Scene, Seen};
pub use top::{Row, RowPair, changed, top, top_inclusive};
pub use unit::Unit;
pub use view::View;
pub use visits::Heap;

/// The line that a server which is built to be profiled prints before `listening on`: it does more
/// than the one that users run, and must never be timed.
pub const ANNOUNCEMENT: &str = "profiling";

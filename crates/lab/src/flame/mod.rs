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
mod graph;
pub mod mechanism;
mod names;
pub mod output;
pub mod page;
pub mod picture;
pub mod raw;
pub mod record;
mod recording;
mod rung;
pub mod spans;
mod svg;
pub mod timeline;
mod top;
mod tree;
mod unit;
mod view;
pub mod waits;

pub use colour::Kind;
pub use differential::Differential;
pub use folded::Folded;
pub use graph::Graph;
pub use names::readable;
pub use recording::Recording;
pub use rung::Rung;
pub use top::{Row, RowPair, changed, top, top_inclusive};
pub use unit::Unit;
pub use view::View;

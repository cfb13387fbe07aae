//! Pictures that show a fault: where the time went in both variants, and what the fix removed.
//!
//! A profiler [records](recording) raw stacks, in samples. They are simplified, scaled to what one
//! request costs, and drawn on one scale for both variants, so that what the fix saves is a width
//! that can be seen.

mod colour;
mod differential;
mod folded;
mod graph;
mod names;
pub mod raw;
mod recording;
mod rung;
mod svg;
mod top;
mod tree;
mod unit;
mod view;

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

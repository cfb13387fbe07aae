//! Pictures that show a fault: where the time went in both variants, and what the fix removed.
//!
//! A profiler [records](record) raw stacks, in samples. They are simplified, scaled to what one
//! request costs, and drawn on one scale for both variants, so that what the fix saves is a width
//! that can be seen.

use lab_case as exhibit;
use lab_record as output;

mod colour;
pub mod connections;
mod differential;
#[cfg(test)]
mod example;
mod folded;
pub mod gallery;
mod graph;
pub mod mechanism;
mod meta;
mod names;
mod observation;
pub mod page;
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
pub mod waits;

pub use colour::Kind;
pub use differential::Differential;
pub use folded::Folded;
pub use graph::Graph;
pub use meta::Meta;
pub use names::readable;
pub use observation::{Heap, Observation};
pub use recording::Recording;
pub use rung::Rung;
pub use scene::{Scene, Seen};
pub use top::{Row, RowPair, changed, top, top_inclusive};
pub use unit::Unit;
pub use view::View;

//! Stacks of a profile as plain data: folded text, a tree, and names that a reader can follow.

mod folded;
mod hottest;
mod kept;
mod names;
mod path;
mod sampling;
#[cfg(test)]
mod tests;
mod top;
mod tree;
mod unit;
mod view;

pub use folded::Folded;
pub(crate) use hottest::hottest;
pub use hottest::{Function, inlined};
pub use kept::{KeptHeap, KeptStack};
pub(crate) use names::Name;
pub use sampling::Sampling;
pub use top::{Row, changed, top, top_inclusive};
pub use tree::Node;
pub use unit::Unit;
pub use view::{JIT, KERNEL, PROCESS, UNKNOWN, View};

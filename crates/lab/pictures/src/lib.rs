//! Pictures of what was seen, both variants on one scale, and the page that shows them.

mod bars;
mod differential;
#[cfg(test)]
mod example;
mod frames;
mod graph;
mod meta;
mod page;
mod palette;
mod sections;
mod threads;
mod timeline;
mod waits;

pub use meta::meta;
pub use page::{Page, Section};
pub use sections::draw_page;

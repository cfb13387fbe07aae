//! Pictures of what was seen, both variants on one scale, and the page that shows them.

mod differential;
#[cfg(test)]
mod example;
mod frames;
mod gallery;
mod graph;
mod legend;
mod meta;
mod page;
mod palette;
mod standard;
mod threads;
mod timeline;
mod waits;

pub use gallery::draw_page;
pub use meta::meta;
pub use page::{Page, Picture, Section, draw_index};

#[cfg(test)]
#[path = "../../display/testing/probe.rs"]
mod probe;

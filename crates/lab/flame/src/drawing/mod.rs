//! Pictures of what was seen, both variants on one scale, and the page that shows them.

mod differential;
#[cfg(test)]
mod example;
mod frames;
mod gallery;
mod graph;
mod page;
mod palette;
pub mod raw;
mod timeline;
mod waits;

pub use gallery::hang;
pub use page::{Page, Section, index};

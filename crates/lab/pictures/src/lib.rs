//! Pictures of what was measured and seen, both variants on one scale, and the pages that show them.

pub mod all_results;
mod bars;
pub mod chart;
mod differential;
#[cfg(test)]
mod example;
mod frames;
mod graph;
mod html;
mod meta;
mod page;
pub mod report;
mod sections;
mod svg;
mod threads;
mod timeline;
mod waits;

pub use meta::meta;
pub use page::{PicturePage, Section};
pub use sections::{draw_page, requests_on_screen};
pub use waits::Waits;

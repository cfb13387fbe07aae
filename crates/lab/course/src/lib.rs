//! What readers see of a record: the book, charts, and the report of a run; and how a record is
//! published.
//!
//! - `book/` fills the markers of the chapters;
//! - `chart/` draws;
//! - `report/` makes one HTML page of a run;
//! - `publish/` collects the newest results as a record that the book quotes.

pub mod book;
mod chart;
#[cfg(test)]
mod fixture;
mod publish;
pub mod report;
mod words;

pub use publish::{Draft, remove_older};
pub use words::origin;

#[cfg(test)]
#[path = "../../display/testing/probe.rs"]
mod probe;

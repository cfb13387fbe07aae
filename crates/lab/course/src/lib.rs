//! What readers see of a record: the book, charts, and the report of a run; and how a record is
//! published.
//!
//! - `book/` fills the markers of the chapters;
//! - `chart/` draws;
//! - `report/` makes one HTML page of a run;
//! - `publish/` collects the newest results as a record that the book quotes.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may panic"))]

pub mod book;
mod chart;
#[cfg(test)]
mod fixture;
mod publish;
pub mod report;
mod stacks;
mod words;

pub use publish::Draft;

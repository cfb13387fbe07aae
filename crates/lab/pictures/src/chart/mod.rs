//! Charts of a record, each with its finding as a sentence for readers who cannot see it.
//!
//! They are drawn with the few shapes of our other pictures and not with a crate for charts: plotters
//! 0.3 and kuva 0.6 fix the colours, so that a chart cannot follow a dark page, and neither writes a
//! `viewBox`, a title or a description.

mod boxes;
mod deciding;
mod ladder;
mod law;
mod parts;
mod sweep;
#[cfg(test)]
mod tests;

use crate::svg::figure;
use maud::Markup;

pub use boxes::boxes;
pub use deciding::deciding;
pub use ladder::{LadderRow, ladder};
pub use law::{LawPoint, law};
pub use sweep::{SweepPoint, sweep};
#[cfg(test)]
pub use tests::recorded;

/// A chart as a file, and what it shows in words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chart {
    pub svg: String,
    /// What it shows, with its figures: the text in an image's place.
    pub alt: String,
}

impl Chart {
    fn new(height: f64, title: &str, alt: String, body: Markup) -> Self {
        Self { svg: figure(height, title, &alt, body).into_string(), alt }
    }
}

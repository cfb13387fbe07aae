//! Charts of a record, each with its finding as a sentence for those who do not see it.
//!
//! They are drawn with the same few shapes as our other pictures and not with a crate for charts: in
//! plotters 0.3 and kuva 0.6 colours are fixed values, so a chart could not follow a dark page, and
//! neither writes a `viewBox`, a title or a description.

mod axis;
mod crossover;
mod labels;
mod latency;
mod marks;
mod speedups;
mod sweep;
#[cfg(test)]
mod tests;
mod throughput;

use maud::Markup;

pub use latency::latency;
pub use speedups::speedups;
pub use sweep::{SweepLabels, SweepPoint, Time, sweep};
#[cfg(test)]
pub(crate) use tests::recorded;
pub use throughput::case;

use crate::{
    bench::{CaseRecord, VariantRecord},
    case::CANDIDATE,
    picture::figure,
};

/// A chart as a file, and what it shows in words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chart {
    /// A whole SVG file, which may as well be put into a page.
    pub svg: String,
    /// What it shows, with its figures: the text in an image's place.
    pub alt: String,
}

impl Chart {
    fn new(height: f64, title: &str, alt: String, body: Markup) -> Self {
        Self { svg: figure(height, title, &alt, body).into_string(), alt }
    }
}

/// What is compared in a case: the baseline, and the variant that the case is about.
pub(crate) fn sides(case: &CaseRecord) -> Option<(&VariantRecord, &VariantRecord)> {
    let [baseline, others @ ..] = &case.variants[..] else { return None };
    let candidate = others.iter().find(|it| it.variant == CANDIDATE).or(others.last())?;
    Some((baseline, candidate))
}

/// How a variant is coloured: the two that are compared stand out from the steps between them.
fn class(case: &CaseRecord, variant: &VariantRecord) -> &'static str {
    match sides(case) {
        Some((baseline, _)) if baseline.variant == variant.variant => "slow",
        Some((_, candidate)) if candidate.variant == variant.variant => "fixed",
        _ => "step",
    }
}

/// `a`, `a and b`, `a, b and c`.
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

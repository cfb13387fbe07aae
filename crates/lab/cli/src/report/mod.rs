//! A run as one page: its summary, its charts and all its figures, in a file that needs no other.
//!
//! The page asks no network for anything, it can be printed, and it holds the record itself: whoever
//! gets it can check every figure. Its one script only offers that record as a file.

mod case;
mod origin;
mod raw;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use crate::{
    bench::{CaseRecord, Record},
    chart::{self, Chart},
    page::document,
};

/// What a record does not say of a case.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What is wrong in the slow variant, as a heading.
    pub title: Option<String>,
    /// What somebody who sees only the symptom would ask.
    pub question: Option<String>,
    /// Where its flame graphs are, as seen from the page; none if they were never drawn.
    pub flame: Option<String>,
}

/// The page of a record; `about` is by the cases' names, and what it lacks is left out.
pub fn html(record: &Record, about: &BTreeMap<String, About>) -> anyhow::Result<String> {
    let title = title(record);
    let nothing = About::default();
    let body = html! {
        header {
            p class="case" { "lab report" }
            h1 { (title) }
            p class="question" { (origin::in_short(record)) }
        }
        @let notices = notices(record);
        @if !notices.is_empty() {
            ul class="notices" { @for notice in &notices { li { (prose(notice)) } } }
        }
        (summary::section(record))
        @for case in &record.cases {
            (case::section(case, about.get(&case.case).unwrap_or(&nothing)))
        }
        (origin::section(record))
        (raw::section(record)?)
    };
    Ok(document(&title, body))
}

fn title(record: &Record) -> String {
    let sides = record.cases.iter().find_map(chart::sides);
    let (baseline, candidate) =
        sides.map_or(("slow", "fixed"), |(one, other)| (&one.variant[..], &other.variant[..]));
    format!("Measured: {candidate} against {baseline}")
}

/// What makes all of the figures doubtful, if anything does.
fn notices(record: &Record) -> Vec<String> {
    let mut notices = Vec::new();
    if record.quick {
        notices.push(
            "This was a quick look: its figures are rough, and too few for a verdict. \
             Run without `--quick` for one."
                .to_owned(),
        );
    }
    if record.build.profile == "debug" {
        notices
            .push("This was a debug build: its figures say nothing of a release build.".to_owned());
    }
    let unclean = record.cases.iter().filter(|case| !case.is_clean());
    let unclean: Vec<_> = unclean.map(|case| case.case.as_str()).collect();
    if !unclean.is_empty() {
        notices.push(format!(
            "Some answers were wrong or missing, in {}: its figures are no result.",
            unclean.join(", ")
        ));
    }
    notices
}

/// A chart in the page. Its words are its description already.
fn figure(chart: &Chart) -> Markup {
    html! { figure class="chart" { (PreEscaped(&chart.svg)) } }
}

/// A text in which backticks stand around what is code.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Whether a case has steps besides the two variants that are compared.
fn has_steps(case: &CaseRecord) -> bool {
    case.variants.len() > 2
}

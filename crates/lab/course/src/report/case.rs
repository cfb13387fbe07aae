//! One case of the report: the verdict with its reason, the charts, and every figure as a table.

use lab_display::page::notices;
use lab_model::{
    Case, CaseRecord, notes,
    tables::{requests, tables},
};
use maud::{Markup, PreEscaped, html};

use crate::chart;

/// `flame` is a link to the case's flame graphs.
pub fn section(case: &CaseRecord, about: Option<&Case>, flame: Option<String>) -> Markup {
    let notes: Vec<_> = notes(case).iter().map(|note| sentence(note)).collect();
    html! {
        section id=(case.case) {
            p class="case" { (case.case) }
            h2 { (about.map_or(&case.case, |about| &about.title)) }
            @if let Some(about) = about { p { (about.question) } }
            p class="verdict" {
                "Verdict: " strong { (case.verdict) } ". " (sentence(&case.reason))
            }
            div class="charts" {
                @for chart in [chart::throughput(case), chart::latency(case)] {
                    figure class="chart" { (PreEscaped(chart.svg)) }
                }
            }
            (notices(&notes))
            @for table in tables(case) { (table.html()) }
            (requests(case).html())
            @if let Some(flame) = flame {
                p class="onward" { a href=(flame) { "Where the time of " (case.case) " goes: its flame graphs" } }
            }
        }
    }
}

/// A clause as a sentence. A variant's name at its start keeps its case.
fn sentence(clause: &str) -> String {
    let clause = clause.trim().trim_end_matches('.');
    let mut rest = clause.chars();
    let is_name =
        clause.split_once(':').is_some_and(|(name, _)| !name.contains(' ') && name != "throughput");
    match rest.next() {
        Some(first) if !is_name => format!("{}{}.", first.to_uppercase(), rest.as_str()),
        Some(_) => format!("{clause}."),
        None => String::new(),
    }
}

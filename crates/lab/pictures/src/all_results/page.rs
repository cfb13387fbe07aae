//! The page of all results as HTML. What is missing says which command makes it.

use lab_report::{
    ComparisonAnswer, Table, TextLanguage, count_table, factor, origin::command_line, translate,
};
use maud::{Markup, html};

use super::{CaseResult, Micro, MorePages, NewestComparison};
use crate::{
    html::{document_in, header, made},
    report::{capital, in_colour},
};

pub fn html(results: &[CaseResult], more: &MorePages) -> String {
    let records =
        results.iter().filter_map(|result| Some(result.measured.as_ref()?.record.clone()));
    let records: Vec<_> = records.collect();
    let answer = (!records.is_empty()).then(|| ComparisonAnswer::of_cases(&records));
    let title = match &answer {
        Some(answer) => answer.headline.text(),
        None => translate!("Nothing is measured yet"),
    };
    let (known, all) = (records.len(), results.len());
    let over = translate!("All results: {known} of {all} cases measured", known, all);
    let body = html! {
        (header(&over, html! { (title) }, None))
        @if let Some(answer) = answer {
            // The cases may come from several runs, so no sentence is true of all intervals.
            div class="answer all" { (Table { caption: String::new(), ..answer.table }.html()) }
        }
        p class="onward" {
            (translate!("The newest figures of each case, with the interval in brackets. Two graphs of a case have one scale, CPU time per request: the pale frame is what the fix saves."))
            @if let Some(report) = &more.report {
                " " a href=(report) { (translate!("All figures of the newest run of all cases")) }
            }
            @if let Some(criterion) = &more.criterion {
                " · " a href=(criterion) { (translate!("Criterion's report")) }
            }
        }
        @for result in results { (section(result)) }
        section { (made(&[], &["just bench-all", "just flame all"].map(str::to_owned))) }
    };
    document_in(if TextLanguage::is_chinese() { "zh-CN" } else { "en" }, &title, body)
}

fn section(result: &CaseResult) -> Markup {
    let name = result.case.name.as_str();
    html! {
        section id=(name) class="result" {
            div {
                h2 { (name) }
                p { (result.case.title) }
                @match &result.measured {
                    Some(measured) => (verdict(measured)),
                    None => p class="verdict" {
                        (translate!("Not measured yet")) ": " (command(&["just", "bench", name]))
                    },
                }
                (counts(result))
            }
            (graphs(result))
            dl {
                @if let Some(measured) = &result.measured {
                    dt { (translate!("Measured")) } dd { (conditions(measured)) }
                }
                @if let Some(found) = &result.micro { dt { "Criterion" } dd { (micro(found)) } }
                @if let Some(chapter) = &result.chapter {
                    dt { (translate!("Chapter")) } dd { a href=(chapter) { (result.case.page()) } }
                }
            }
        }
    }
}

fn verdict(measured: &NewestComparison) -> Markup {
    let answer = ComparisonAnswer::of_case(&measured.record);
    let doubts = [
        measured
            .record
            .has_faults()
            .then(|| translate!("Some answers were wrong or missing: do not use these figures.")),
        measured.is_quick.then(|| translate!("A quick run: its figures are rough.")),
        measured
            .is_debug
            .then(|| translate!("A debug build: its figures do not apply to a release build.")),
    ];
    html! {
        p class="verdict" { (in_colour(&answer.headline)) }
        @for reason in answer.reasons.iter().filter(|reason| !reason.is_decided()) {
            p { (capital(&reason.sentence)) }
        }
        @for doubt in doubts.iter().flatten() { p { (doubt) } }
    }
}

/// Thumbnails that open the page of the flame graphs or, without a page, the graph.
fn graphs(result: &CaseResult) -> Markup {
    let name = result.case.name.as_str();
    html! {
        @if result.graphs.is_empty() {
            p { (translate!("No flame graphs")) ": "
                @match &result.flame {
                    Some(page) => a href=(page) { (translate!("the page of its profile")) },
                    None => (command(&["just", "flame", name])),
                }
            }
        } @else {
            div class="thumbs" {
                @for (server, graph) in &result.graphs {
                    a href=(result.flame.as_ref().unwrap_or(graph)) {
                        figure {
                            figcaption { (server) }
                            img src=(graph) loading="lazy" alt=(translate!("flame graph of {server}", server));
                        }
                    }
                }
            }
        }
    }
}

fn conditions(measured: &NewestComparison) -> String {
    let NewestComparison { record, created, machine, .. } = measured;
    let when = created.strftime("%Y-%m-%d %H:%M UTC");
    format!("{when}, {machine}; {}", ComparisonAnswer::of_case(record).how)
}

fn micro(micro: &Micro) -> Markup {
    html! {
        @match (micro.factor, &micro.bench) {
            (Some(found), _) => (translate!("{found} in process, without a server", found = factor(found))),
            (None, Some(bench)) => {
                (translate!("not measured")) ": "
                (command(&["cargo", "bench", "--package", "benches", "--bench", bench]))
            },
            (None, None) => (translate!("has no bench")),
        }
        @if let Some(report) = &micro.report {
            " · " a href=(report) { (translate!("its report")) }
        }
    }
}

fn counts(result: &CaseResult) -> Markup {
    let [slow, fixed] = &result.counts;
    let table = count_table("", &[(lab_cases::SLOW, slow), (lab_cases::FIXED, fixed)]);
    let caption = translate!("Exact counts of one visit");
    html! {
        @if !table.rows.is_empty() { (Table { caption, ..table }.html()) }
    }
}

/// A command with its arguments quoted as a shell needs them.
fn command(words: &[&str]) -> Markup {
    let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
    html! { code { (command_line(&words)) } }
}

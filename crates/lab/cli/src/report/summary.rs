//! All cases on one table, fixed against slow, with the verdicts.

use maud::{Markup, html};

use super::figure;
use crate::{
    bench::{CaseRecord, Record},
    chart,
    display::{self, NONE, significant, speedup},
    page::Table,
    stats::Speedup,
};

pub fn section(record: &Record) -> Markup {
    let rows = record.cases.iter().map(row).collect();
    let names = record.cases.iter().find_map(chart::sides);
    let [baseline, candidate] = names
        .map_or(["slow", "fixed"], |(one, other)| [&one.variant[..], &other.variant[..]])
        .map(|name| format!("{name}, req/s"));
    // The factors first: a telephone shows no more.
    let claims = ["case", "by req/s", "by CPU per request", "A/A noise", "verdict"];
    let head = claims.into_iter().chain([&baseline[..], &candidate[..]]);
    let head = head.map(str::to_owned).collect();
    let table = Table { caption: caption(record), head, rows };
    html! {
        section {
            h2 { "Summary" }
            (table.html())
            (figure(&chart::speedups(record)))
        }
    }
}

fn row(case: &CaseRecord) -> Vec<String> {
    let told = |found: Option<Speedup>| found.map_or(NONE.to_owned(), |found| speedup(&found));
    let throughput = |side: Option<f64>| side.map_or(NONE.to_owned(), significant);
    let sides = chart::sides(case);
    vec![
        case.case.clone(),
        told(case.speedup.throughput),
        told(case.speedup.cpu_per_request),
        noise(case).map_or(NONE.to_owned(), |noise| display::noise(&noise)),
        case.verdict.to_string(),
        throughput(sides.map(|(baseline, _)| baseline.throughput_rps)),
        throughput(sides.map(|(_, candidate)| candidate.throughput_rps)),
    ]
}

/// The control of a claim that reaches farthest from 1.
fn noise(case: &CaseRecord) -> Option<Speedup> {
    let controls = [case.control.speedup.throughput, case.control.speedup.cpu_per_request];
    controls.into_iter().flatten().max_by(|one, other| one.reach().total_cmp(&other.reach()))
}

fn caption(record: &Record) -> String {
    let confidence = record.cases.iter().filter_map(|case| case.speedup.throughput);
    let confidence = confidence.map(|speedup| speedup.confidence).reduce(f64::min);
    let interval = confidence.map_or(String::new(), |confidence| {
        // Rounded down: 94.99 % are not 95 %.
        let percent = (confidence * 1000.0).floor() / 10.0;
        format!("In brackets: a {percent:.1} % interval, from pairs of runs. ")
    });
    format!("{interval}A/A noise is how far the baseline, measured against itself, is from 1.")
}

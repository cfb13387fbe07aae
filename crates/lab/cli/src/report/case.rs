//! One case of the report: the verdict with its reason, the charts, and every figure as a table.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{About, figure, has_steps, prose};
use crate::{
    bench::{CaseRecord, VariantRecord, claim_row, illustration_row, notes, open_loop_row},
    chart,
    display::{NONE, significant, speedup, thousands},
    page::Table,
    stats::Speedup,
};

pub fn section(case: &CaseRecord, about: &About) -> Markup {
    html! {
        section id=(case.case) {
            p class="case" { (case.case) }
            h2 { (about.title.as_ref().unwrap_or(&case.case)) }
            @if let Some(question) = &about.question { p { (question) } }
            p class="verdict" {
                "Verdict: " strong { (case.verdict) } ". " (sentence(&case.reason))
            }
            div class="charts" {
                (figure(&chart::case(case)))
                (figure(&chart::latency(case)))
            }
            @let notes = notes(case);
            @if !notes.is_empty() {
                ul class="notices" { @for note in &notes { li { (prose(&sentence(note))) } } }
            }
            @for table in tables(case) { (table.html()) }
            @if let Some(flame) = &about.flame {
                p class="onward" { a href=(flame) { "Where the time of " (case.case) " goes: its flame graphs" } }
            }
        }
    }
}

fn tables(case: &CaseRecord) -> Vec<Table> {
    [
        Some(claims(case)),
        Some(controls(case)),
        Some(latencies(case)),
        open_loop(case),
        exact(case),
        Some(requests(case)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn claims(case: &CaseRecord) -> Table {
    let over =
        case.variants.first().map_or(String::new(), |first| format!("over {}", first.variant));
    let plural = if case.pairs == 1 { "" } else { "s" };
    let steps = if has_steps(case) { ", each step measured against the first" } else { "" };
    Table {
        caption: format!(
            "Claims: {} pair{plural} of runs of {} s each, after {} s of warm-up; {}{steps}.",
            case.pairs, case.measurement_s, case.warm_up_s, case.load
        ),
        head: head(["variant", "req/s", &over, "CPU per request", &over]),
        rows: case.variants.iter().map(claim_row).collect(),
    }
}

/// Fixed against slow, and slow against itself.
fn controls(case: &CaseRecord) -> Table {
    let (found, control) = (case.speedup, case.control.speedup);
    let told = |it: Option<Speedup>| it.map_or(NONE.to_owned(), |it| speedup(&it));
    let row = |name: &str, found, control| vec![name.to_owned(), told(found), told(control)];
    let names = chart::sides(case);
    let (baseline, candidate) =
        names.map_or(("slow", "fixed"), |(one, other)| (&one.variant[..], &other.variant[..]));
    Table {
        caption: format!(
            "Control: what this machine makes of no difference at all, from {} pairs of {baseline} \
             with itself. A difference smaller than {} does not count.",
            case.control.pairs,
            percent(case.minimum_effect)
        ),
        head: head([
            "metric",
            &format!("{candidate} over {baseline}"),
            &format!("{baseline} over {baseline}"),
        ]),
        rows: vec![
            row("requests per second", found.throughput, control.throughput),
            row("CPU per request", found.cpu_per_request, control.cpu_per_request),
            row("median latency", found.latency_p50, control.latency_p50),
        ],
    }
}

fn latencies(case: &CaseRecord) -> Table {
    Table {
        caption: "Illustration, without intervals: latency in the closed loop, and memory."
            .to_owned(),
        head: head(["variant", "p50", "p90", "p99", "peak MiB", "errors"]),
        rows: case.variants.iter().map(illustration_row).collect(),
    }
}

fn open_loop(case: &CaseRecord) -> Option<Table> {
    let rate = case.variants.iter().find_map(|it| it.open_loop.as_ref())?.rate_per_s;
    Some(Table {
        caption: format!(
            "Illustration: open loop, {} arrivals per second; latency counts from the moment an \
             arrival was due.",
            significant(rate)
        ),
        head: head(["variant", "p50", "p90", "p99", "queued", "errors"]),
        rows: case.variants.iter().filter_map(open_loop_row).collect(),
    })
}

/// What one page costs; a row a count.
fn exact(case: &CaseRecord) -> Option<Table> {
    let names: BTreeSet<_> =
        case.variants.iter().flat_map(|variant| variant.exact.keys()).collect();
    if names.is_empty() {
        return None;
    }
    let variants = case.variants.iter().map(|variant| variant.variant.as_str());
    let row = |name: &String| {
        let count = |variant: &VariantRecord| match variant.exact.get(name) {
            Some(count) if count.fract() == 0.0 => thousands(*count),
            Some(count) => significant(*count),
            None => NONE.to_owned(),
        };
        let label = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        std::iter::once(label).chain(case.variants.iter().map(count)).collect()
    };
    Some(Table {
        caption:
            "Exact: counted once by lab count, for what its case counts over; no run changes it."
                .to_owned(),
        head: std::iter::once("count").chain(variants).map(str::to_owned).collect(),
        rows: names.into_iter().map(row).collect(),
    })
}

/// Every request in just one column, and how busy the generator was.
fn requests(case: &CaseRecord) -> Table {
    let row = |it: &VariantRecord| {
        let counts = [it.sent, it.ok, it.wrong, it.failed, it.unfinished];
        let counts = counts.into_iter().map(|count| thousands(count as f64));
        let generator = it.generator_cpu.map_or(NONE.to_owned(), percent);
        let name = std::iter::once(it.variant.clone());
        name.chain(counts).chain(std::iter::once(generator)).collect()
    };
    Table {
        caption:
            "Requests of the closed loop. The generator has one thread, and from 90 % of a core \
                  on it is the limit itself."
                .to_owned(),
        head: head([
            "variant",
            "sent",
            "right",
            "wrong",
            "failed",
            "unfinished",
            "generator's CPU",
        ]),
        rows: case.variants.iter().map(row).collect(),
    }
}

fn head<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0).replace(".0 %", " %")
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let clause = clause.trim().trim_end_matches('.');
    let mut rest = clause.chars();
    // A variant's name at the start stays as it is written.
    let is_name =
        clause.split_once(':').is_some_and(|(name, _)| !name.contains(' ') && name != "throughput");
    match rest.next() {
        Some(first) if !is_name => format!("{}{}.", first.to_uppercase(), rest.as_str()),
        Some(_) => format!("{clause}."),
        None => String::new(),
    }
}

//! One case of the report: the verdict with its reason, the charts, and every figure as a table.

use lab_case::Case;
use lab_display::{NONE, count_rows, page::Table, plural, significant, speedup_or, thousands};
use lab_record::{CaseRecord, VariantRecord, claim_row, illustration_row, notes, open_loop_row};
use maud::{Markup, PreEscaped, html};

use super::{notices, sides};
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
            @if let Some(flame) = flame {
                p class="onward" { a href=(flame) { "Where the time of " (case.case) " goes: its flame graphs" } }
            }
        }
    }
}

fn tables(case: &CaseRecord) -> Vec<Table> {
    let tables = [
        claims(case),
        controls(case),
        latencies(case),
        open_loop(case),
        exact(case),
        requests(case),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn table<'a>(
    caption: String,
    head: impl IntoIterator<Item = &'a str>,
    rows: Vec<Vec<String>>,
) -> Table {
    Table { caption, head: head.into_iter().map(str::to_owned).collect(), rows }
}

fn claims(case: &CaseRecord) -> Table {
    let over = format!("over {}", sides(case)[0]);
    let steps = match case.variants.len() {
        ..=2 => "",
        _ => ", each step measured against the first",
    };
    let caption = format!(
        "Claims: {} of runs of {} s each, after {} s of warm-up; {}{steps}.",
        plural(case.pairs, "pair"),
        case.measurement_s,
        case.warm_up_s,
        case.load
    );
    let head = ["variant", "req/s", &over, "CPU per request", &over];
    table(caption, head, case.variants.iter().map(claim_row).collect())
}

/// Fixed against slow, and slow against itself.
fn controls(case: &CaseRecord) -> Table {
    let (found, control) = (case.speedup, case.control.speedup);
    let row = |name: &str, found, control| {
        vec![name.to_owned(), speedup_or(NONE, found), speedup_or(NONE, control)]
    };
    let [baseline, candidate] = sides(case);
    let caption = format!(
        "Control: {} pairs of {baseline} with itself show how large differences are on this machine \
         when nothing has changed. A difference smaller than {} does not count.",
        case.control.pairs,
        percent(case.minimum_effect)
    );
    let [over, itself] = [candidate, baseline].map(|side| format!("{side} over {baseline}"));
    let rows = vec![
        row("requests per second", found.throughput, control.throughput),
        row("CPU per request", found.cpu_per_request, control.cpu_per_request),
        row("median latency", found.latency_p50, control.latency_p50),
    ];
    table(caption, ["metric", &over, &itself], rows)
}

fn latencies(case: &CaseRecord) -> Table {
    let caption = "Illustration, without intervals: latency in the closed loop, and memory.";
    let head = ["variant", "p50", "p90", "p99", "peak MiB", "errors"];
    table(caption.to_owned(), head, case.variants.iter().map(illustration_row).collect())
}

fn open_loop(case: &CaseRecord) -> Table {
    let rate = case.variants.iter().find_map(|it| it.open_loop.as_ref()).map(|it| it.rate_per_s);
    let caption = format!(
        "Illustration: open loop, {} arrivals per second; latency counts from the moment an arrival \
         was due.",
        rate.map_or(NONE.to_owned(), significant)
    );
    let head = ["variant", "p50", "p90", "p99", "queued", "errors"];
    table(caption, head, case.variants.iter().filter_map(open_loop_row).collect())
}

/// The cost of one page load; a row a count.
fn exact(case: &CaseRecord) -> Table {
    let counts: Vec<_> = case.variants.iter().map(|variant| &variant.exact).collect();
    let caption = "Exact: counted once by lab count; the same in every run.";
    let variants = case.variants.iter().map(|variant| variant.variant.as_str());
    let head = std::iter::once("count").chain(variants);
    table(caption.to_owned(), head, count_rows(&counts))
}

/// Every request in exactly one column, and how busy the generator was.
fn requests(case: &CaseRecord) -> Table {
    let row = |it: &VariantRecord| {
        let counts = [it.sent, it.ok, it.wrong, it.failed, it.unfinished];
        let counts = counts.into_iter().map(|count| thousands(count as f64));
        let generator = it.generator_cpu.map_or(NONE.to_owned(), percent);
        std::iter::once(it.variant.clone()).chain(counts).chain([generator]).collect()
    };
    let caption = "Requests of the closed loop. The generator has one thread: from 90 % of a core on, \
                   it limits the result.";
    let head = ["variant", "sent", "right", "wrong", "failed", "unfinished", "generator's CPU"];
    table(caption.to_owned(), head, case.variants.iter().map(row).collect())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0).replace(".0 %", " %")
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

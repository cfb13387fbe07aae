//! One case of the report: the verdict with its reason, the charts, and every figure as a table.

use lab_display::{NONE, count_rows, page::Table, plural, thousands};
use lab_model::{
    Case, CaseRecord, VariantRecord, claim_row, latency_rows, metric_rows, notes, open_loop_rows,
};
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

/// Fixed against slow, and slow against itself, in each metric.
fn controls(case: &CaseRecord) -> Table {
    let [baseline, candidate] = sides(case);
    let caption = format!(
        "Control: {} pairs of {baseline} with itself show how large differences are on this machine \
         when nothing has changed, in each metric. A difference smaller than {} does not count.",
        case.control.pairs,
        percent(case.minimum_effect)
    );
    let over = format!("{candidate} over {baseline}");
    let itself = format!("{baseline} over {baseline}");
    table(caption, ["metric", &over, &itself, "shows"], metric_rows(case))
}

fn latencies(case: &CaseRecord) -> Table {
    let caption = "Illustration, without intervals: latency in the closed loop, and memory. Worst \
                   p99 is the p99 of the worst run.";
    let (head, rows) = latency_rows(case);
    table(caption.to_owned(), std::iter::once("variant").chain(head), rows)
}

fn open_loop(case: &CaseRecord) -> Table {
    let open_loop = case.variants.iter().find_map(|it| it.open_loop.as_ref());
    let arrivals = open_loop.map_or(NONE.to_owned(), |it| it.arrivals_in_words());
    let caption = format!(
        "Illustration: open loop, {arrivals}; latency counts from the moment an arrival was due."
    );
    let (head, rows) = open_loop_rows(case);
    table(caption, std::iter::once("variant").chain(head), rows)
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
        let requests = &it.requests;
        let ends = [requests.ok, requests.wrong, requests.failed, requests.unfinished];
        let counts = [requests.sent].into_iter().chain(ends).chain([requests.lost]);
        let counts = counts.map(|count| thousands(count as f64));
        let share = |share: Option<f64>| share.map_or(NONE.to_owned(), percent);
        let generator = [share(it.generator_cpu), share(it.generator_waited)];
        std::iter::once(it.variant.clone()).chain(counts).chain(generator).collect()
    };
    let caption = "Requests of the closed loop. Lost requests are those unfinished ones that the load \
                   does not explain. The generator has one thread: where it worked or waited for a \
                   core for 90 % of a run, it limits the result.";
    let head = [
        "variant",
        "sent",
        "right",
        "wrong",
        "failed",
        "unfinished",
        "lost",
        "generator's CPU",
        "its wait for a core",
    ];
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

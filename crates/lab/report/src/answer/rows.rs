//! The one table of an answer.

use lab_protocol::{Metric, Percentile};

use crate::{
    CaseRecord, Cell, Meaning, NONE, Table, VariantRecord, significant,
    tables::{
        claims, confidence, cpu_cells, factor_of, figure_of, figures_of, is_of_open_loop, noise_of,
    },
    thousands,
};

use super::{in_pairs, noise};

/// How many counts of a visit.
const COUNTS: usize = 3;
/// The columns that a narrow terminal leaves out of the candidates' table, in the order in which they go.
pub(super) const SPARE: [&str; 4] = ["p99", "CPU/req", "peak MiB", "baseline → candidate"];
/// The column of the cases that has figures.
pub(super) const FIGURES: usize = 3;

/// Every figure once: a row a metric. Of more than two servers, a row a server.
pub(super) fn of_case(case: &CaseRecord) -> Table {
    let Some((one, other)) = case.sides() else { return Table::default() };
    let loops = if is_of_open_loop(case) { " Latencies are those of random arrivals." } else { "" };
    let caption = format!("{}.{loops}", noise(case));
    if case.variants.len() > 2 {
        return Table { caption, ..claims(case) };
    }
    let mut rows = Vec::new();
    for metric in metrics_of(case) {
        let figures = figures_of(case, metric);
        if figures.iter().any(|figure| figure != NONE) {
            rows.push(metric_row(case, metric, figures));
        }
    }
    let names = one.exact.keys().chain(one.ranges.keys()).filter(|name| *name != "bytes");
    let counts =
        names.filter_map(|name| Some((name, [count_of(one, name)?, count_of(other, name)?])));
    for (name, [before, after]) in counts.take(COUNTS) {
        let cells = [name.replace('_', " "), before, after, String::new(), String::new()];
        rows.push(cells.map(Cell::from).into());
    }
    Table::of_cells(caption, ["", &one.variant, &other.variant, "factor", ""], rows)
}

/// The metrics that are worth a row.
fn metrics_of(case: &CaseRecord) -> Vec<Metric> {
    if case.metric == Metric::Time {
        return vec![Metric::Time];
    }
    let mut metrics = vec![Metric::Throughput, Metric::Cpu];
    for at in Percentile::all() {
        let metric = Metric::Latency(at);
        if ["p50", "p99"].contains(&at.key()) || metric == case.metric {
            metrics.push(metric);
        }
    }
    metrics.push(Metric::PeakMemory);
    metrics
}

fn metric_row(case: &CaseRecord, metric: Metric, [before, after]: [String; 2]) -> Vec<Cell> {
    // Without a decision, no row decides anything.
    let decides = metric == case.metric && case.speedup.of(metric).is_some();
    let (meaning, mark) =
        if decides { (Meaning::Decides, "decides") } else { (Meaning::Plain, "") };
    let name = Cell::new(case.short(metric), meaning);
    vec![name, before.into(), after.into(), factor_cell(case, metric), mark.into()]
}

fn factor_cell(case: &CaseRecord, metric: Metric) -> Cell {
    if metric == Metric::Cpu && case.idle_baseline().is_some() {
        let [idles, _] = cpu_cells(case);
        return idles.into();
    }
    if case.speedup.of(metric).is_none() {
        return Cell::default();
    }
    let meaning = match case.judged_by(metric).0 {
        verdict if verdict.direction() != 0 => Meaning::Factor(verdict),
        _ => Meaning::Plain,
    };
    Cell::new(factor_of(&case.speedup, metric), meaning)
}

/// A count of a visit, or how it varies.
fn count_of(variant: &VariantRecord, name: &str) -> Option<String> {
    let exact = variant.exact.get(name).map(|count| thousands(*count));
    exact.or_else(|| variant.ranges.get(name).map(|ends| ends.map(significant).join("–")))
}

/// The baseline, and each candidate with its verdict: what decides, and what it costs. Benchmarks have no baseline in
/// common.
pub(super) fn of_candidates(cases: &[CaseRecord]) -> Table {
    let Some(first) = cases.first() else { return Table::default() };
    if first.metric == Metric::Time {
        return of_cases(cases);
    }
    let mut metrics =
        vec![Metric::Throughput, Metric::Cpu, Metric::Latency(Percentile::P99), Metric::PeakMemory];
    if !metrics.contains(&first.metric) {
        metrics.insert(0, first.metric);
    }
    let figures = |case: &CaseRecord, variant: &VariantRecord| {
        let figures = metrics.iter().map(|metric| figure_of(case, variant, *metric).into());
        figures.collect::<Vec<Cell>>()
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    if let Some((baseline, _)) = first.sides() {
        let name = Cell::from(&*baseline.variant);
        let start = [name, Cell::default(), Cell::default(), Cell::default()];
        rows.push(start.into_iter().chain(figures(first, baseline)).collect());
    }
    for case in cases {
        let Some((_, candidate)) = case.sides() else { continue };
        let start = [
            Cell::new(&*candidate.variant, Meaning::Case),
            Cell::new(case.verdict.to_string(), Meaning::Verdict(case.verdict)),
            factor_of(&case.speedup, case.metric).into(),
            noise_of(case, case.metric).into(),
        ];
        rows.push(start.into_iter().chain(figures(case, candidate)).collect());
    }
    let names = metrics.iter().map(|metric| first.short(*metric));
    let head = ["", "verdict", "factor", "noise"].map(str::to_owned).into_iter().chain(names);
    let head: Vec<_> = head.collect();
    // What nothing has, such as a percentile of few answers.
    let is_known = |at: &usize| *at < 4 || rows.iter().any(|row| row[*at] != NONE);
    let known: Vec<_> = (0..head.len()).filter(is_known).collect();
    Table::of_cells(how(first), head, rows).columns(&known)
}

/// A sentence on the noise of the candidates and on how they were measured.
pub(super) fn how(case: &CaseRecord) -> String {
    format!("noise: what two equal servers could differ by; {}.", in_pairs(case))
}

/// The verdict of each case, by how much, and from what to what.
pub(super) fn of_cases(cases: &[CaseRecord]) -> Table {
    let Some(first) = cases.first() else { return Table::default() };
    let row = |case: &CaseRecord| {
        let [from, to] = figures_of(case, case.metric);
        let unit = match case.metric {
            Metric::Time => String::new(),
            metric => format!(" {}", case.short(metric)),
        };
        vec![
            Cell::new(case.case.as_str(), Meaning::Case),
            Cell::new(case.verdict.to_string(), Meaning::Verdict(case.verdict)),
            factor_of(&case.speedup, case.metric).into(),
            format!("{from} → {to}{unit}").into(),
        ]
    };
    let [baseline, candidate] = first.names();
    let head = ["", "verdict", "factor", &format!("{baseline} → {candidate}")];
    let caption = confidence(cases).map_or(String::new(), |confidence| {
        format!("The brackets show a {confidence} interval, from pairs of runs.")
    });
    Table::of_cells(caption, head, cases.iter().map(row))
}

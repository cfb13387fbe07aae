//! The table that shows baseline and candidate side by side.

use lab_protocol::{Metric, Percentile};

use crate::{
    CaseRecord, OpenLoopRecord, Table, VariantRecord, plural,
    tables::{
        cpu_cells, factor_of, figures_of, interval, is_of_open_loop, memory, noise_of, percentile,
        rate,
    },
};

/// Baseline and candidate side by side, a metric a row.
pub fn pair(case: &CaseRecord) -> Table {
    let Some((one, other)) = case.sides() else { return Table::default() };
    let sides = [one, other];
    let mut rows = Vec::new();
    for (name, metric) in [
        (case.short(Metric::Throughput), Metric::Throughput),
        (format!("CPU per {}", case.visit), Metric::Cpu),
    ] {
        rows.push(pair_row(&name, figures_of(case, metric), factor_cells(case, metric)));
    }
    rows.extend(latency_rows(case, sides));
    // The load that each side got.
    for (name, rates) in [
        ("open loop, arrivals/s", sides.map(|side| case.arrived_per_s(&side.variant))),
        ("other clients, requests/s", sides.map(|side| case.background_per_s(&side.variant))),
    ] {
        if rates.iter().any(Option::is_some) {
            rows.push(pair_row(name, rates.map(rate), Default::default()));
        }
    }
    let memory = sides.map(memory);
    rows.push(pair_row("peak MiB", memory, factor_cells(case, Metric::PeakMemory)));
    let caption = format!(
        "Load: {}; {} of runs. A factor comes from the ratios of the pairs, not from the two columns.{} Noise is what two \
         equal servers could differ by here.",
        case.load,
        plural(case.pairs, "pair"),
        interval([case]),
    );
    Table::new(caption, [case.case.as_str(), "factor", "noise", &one.variant, &other.variant], rows)
}

/// A row of [`pair`]. The factor comes before the figures, because a phone shows only the first columns.
fn pair_row(name: &str, figures: [String; 2], factor: [String; 2]) -> Vec<String> {
    [name.to_owned()].into_iter().chain(factor).chain(figures).collect()
}

/// The factor of a metric and its noise; two empty cells if the metric has no factor.
fn factor_cells(case: &CaseRecord, metric: Metric) -> [String; 2] {
    match (metric, case.speedup.of(metric)) {
        (Metric::Cpu, _) => cpu_cells(case),
        (_, None) => Default::default(),
        (_, Some(_)) => [factor_of(&case.speedup, metric), noise_of(case, metric)],
    }
}

/// Rows of [`pair`] for the percentiles of each loop, and for those of other clients. Only the loop that ran in
/// pairs has factors.
fn latency_rows(case: &CaseRecord, sides: [&VariantRecord; 2]) -> Vec<Vec<String>> {
    let open_loops = sides.map(|side| side.open_loop.as_ref());
    let closed = sides.map(|side| side.latency_ms);
    let open = open_loops.map(|open| open.map(OpenLoopRecord::latencies).unwrap_or_default());
    let others =
        open_loops.map(|open| open.and_then(|open| open.background_ms).unwrap_or_default());
    let of_open = is_of_open_loop(case);
    let mut rows = Vec::new();
    for (latencies, name, has_factor) in [
        (closed, "closed loop", !of_open),
        (open, "open loop", of_open),
        (others, "other clients", false),
    ] {
        for at in Percentile::all() {
            if latencies.iter().all(|latency| latency.by.get(at).is_none()) {
                continue;
            }
            let factor = if has_factor {
                factor_cells(case, Metric::Latency(at))
            } else {
                Default::default()
            };
            let figures = latencies.map(|latency| percentile(&latency, at));
            rows.push(pair_row(&format!("{}, {name}", at.name()), figures, factor));
        }
    }
    rows
}

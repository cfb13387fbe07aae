//! The rows of a record's tables.

use lab_display::{NONE, noise, significant, speedup_or, thousands, time_ms};
use lab_load::Spacing;
use lab_stats::Verdict;

use super::{CaseRecord, Latencies, Metric, OpenLoopRecord, VariantRecord};

/// Throughput and CPU per request, each followed by its speedup over the baseline.
pub fn claim_row(variant: &VariantRecord) -> Vec<String> {
    vec![
        variant.variant.clone(),
        significant(variant.throughput_rps),
        speedup_or("", variant.speedup.and_then(|over| over.throughput)),
        variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
        speedup_or("", variant.speedup.and_then(|over| over.cpu_per_request)),
    ]
}

/// The factor of each metric that was measured, next to the control of that same metric, and what it
/// shows. The verdict is about one of them.
pub fn metric_rows(case: &CaseRecord) -> Vec<Vec<String>> {
    let measured = |metric: &Metric| case.speedup.of(*metric).is_some();
    let row = |metric: Metric| {
        let shows = match case.judged_by(metric).verdict {
            Verdict::Faster => "better".to_owned(),
            Verdict::Slower => "worse".to_owned(),
            verdict => verdict.to_string(),
        };
        let decides = if metric == case.metric { " (decides)" } else { "" };
        vec![
            format!("{}{decides}", metric.name()),
            speedup_or(NONE, case.speedup.of(metric).copied()),
            case.control.speedup.of(metric).map_or(NONE.into(), noise),
            shows,
        ]
    };
    Metric::ALL.into_iter().filter(measured).map(row).collect()
}

/// The lowest confidence of the throughput intervals: `95.2 %`. Rounded down: 94.99 % is not 95 %.
pub fn confidence<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> Option<String> {
    let intervals = cases.into_iter().filter_map(|case| case.speedup.throughput);
    let lowest = intervals.map(|speedup| speedup.confidence).reduce(f64::min)?;
    Some(format!("{:.1} %", (lowest * 1000.0).floor() / 10.0))
}

/// Latency, memory and errors in the closed loop, with the head. A percentile that no variant has
/// enough answers for has no column.
pub fn latency_rows(case: &CaseRecord) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let latencies: Vec<_> = case.variants.iter().map(|variant| variant.latency_ms).collect();
    let percentiles = percentiles(&latencies);
    let head = percentiles.iter().map(|it| it.name).chain(["peak MiB", "errors"]).collect();
    let row = |variant: &VariantRecord| {
        let mut row = vec![variant.variant.clone()];
        row.extend(percentiles.iter().map(|it| it.show(variant.latency_ms)));
        row.push(variant.peak_rss_mib.map_or(NONE.into(), significant));
        row.push(thousands(variant.errors() as f64));
        row
    };
    (head, case.variants.iter().map(row).collect())
}

/// Latency and errors in the open loop, with the head; no rows if there was none.
pub fn open_loop_rows(case: &CaseRecord) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let measured: Vec<(&str, &OpenLoopRecord)> = case
        .variants
        .iter()
        .filter_map(|it| Some((it.variant.as_str(), it.open_loop.as_ref()?)))
        .collect();
    let latencies: Vec<_> = measured.iter().map(|(_, open)| open.latency_ms).collect();
    let percentiles = percentiles(&latencies);
    let head = percentiles.iter().map(|it| it.name).chain(["queued", "errors"]).collect();
    let row = |(variant, open): &(&str, &OpenLoopRecord)| {
        let mut row = vec![(*variant).to_owned()];
        row.extend(percentiles.iter().map(|it| it.show(open.latency_ms)));
        row.push(thousands(open.queued as f64));
        row.push(thousands(open.errors() as f64));
        row
    };
    (head, measured.iter().map(row).collect())
}

impl OpenLoopRecord {
    /// `9.68 random arrivals per second`.
    pub fn arrivals_in_words(&self) -> String {
        let spacing = match self.spacing {
            Spacing::Random { .. } => "random",
            Spacing::Even => "evenly spaced",
        };
        format!("{} {spacing} arrivals per second", significant(self.rate_per_s))
    }
}

struct Percentile {
    name: &'static str,
    of: fn(&Latencies) -> Option<f64>,
}

impl Percentile {
    fn show(&self, latencies: Latencies) -> String {
        latencies.shown((self.of)(&latencies))
    }
}

/// Those that at least one of these latencies has.
fn percentiles(latencies: &[Latencies]) -> Vec<Percentile> {
    let mut all = vec![
        Percentile { name: "p50", of: |it| it.p50 },
        Percentile { name: "p90", of: |it| it.p90 },
        Percentile { name: "p99", of: |it| it.p99 },
        Percentile { name: "p99.9", of: |it| it.p999 },
        Percentile { name: "worst p99", of: |it| it.worst_p99 },
    ];
    all.retain(|percentile| latencies.iter().any(|it| (percentile.of)(it).is_some()));
    all
}

impl Latencies {
    /// A percentile of these, with `≥` if it is a lower bound.
    pub fn shown(&self, percentile: Option<f64>) -> String {
        let Some(ms) = percentile else { return NONE.to_owned() };
        let bound = if self.is_lower_bound(ms) { "≥" } else { "" };
        format!("{bound}{}", time_ms(ms))
    }
}

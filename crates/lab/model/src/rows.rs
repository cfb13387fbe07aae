//! The rows of a record's tables.

use lab_display::{NONE, noise, significant, speedup_or, thousands, time_ms};
use lab_stats::Verdict;

use super::{CaseRecord, Latencies, Metric, OpenLoopRecord, Percentile, Spacing, VariantRecord};

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
            Verdict::SlightlyFaster => "slightly better".to_owned(),
            Verdict::SlightlySlower => "slightly worse".to_owned(),
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
    Metric::all().filter(measured).map(row).collect()
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
    let row = |it: &VariantRecord| {
        let memory = it.peak_rss_mib.map_or(NONE.into(), significant);
        (it.variant.clone(), it.latency_ms, [memory, thousands(it.requests.errors() as f64)])
    };
    with_percentiles(case.variants.iter().map(row).collect(), ["peak MiB", "errors"])
}

/// Latency and errors in the open loop, with the head; no rows if there was none.
pub fn open_loop_rows(case: &CaseRecord) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |it: &VariantRecord| {
        let open = it.open_loop.as_ref()?;
        let last = [open.queued, open.requests.errors()].map(|count| thousands(count as f64));
        Some((it.variant.clone(), open.latency_ms, last))
    };
    with_percentiles(case.variants.iter().filter_map(row).collect(), ["queued", "errors"])
}

/// Rows with the percentiles that at least one of them has between the name and the last columns.
fn with_percentiles(
    rows: Vec<(String, Latencies, [String; 2])>,
    last: [&'static str; 2],
) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let is_known = |of: &dyn Fn(&Latencies) -> bool| rows.iter().any(|(_, it, _)| of(it));
    let percentiles: Vec<_> =
        Percentile::all().filter(|at| is_known(&|it| it.by.get(*at).is_some())).collect();
    let worst = is_known(&|it| it.worst_p99.is_some()).then_some("worst p99");
    let head = percentiles.iter().map(|at| at.name()).chain(worst).chain(last).collect();
    let row = |(name, latency, last): (String, Latencies, [String; 2])| {
        let shown = percentiles.iter().map(|at| latency.at(*at));
        let worst = worst.map(|_| latency.shown(latency.worst_p99));
        std::iter::once(name).chain(shown).chain(worst).chain(last).collect()
    };
    (head, rows.into_iter().map(row).collect())
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

impl Latencies {
    /// A percentile of these, with `≥` if it is a lower bound.
    pub fn at(&self, percentile: Percentile) -> String {
        self.shown(self.by.get(percentile).copied())
    }

    fn shown(&self, latency: Option<f64>) -> String {
        let Some(ms) = latency else { return NONE.to_owned() };
        let bound = if self.exact_below.is_some_and(|age| ms >= age) { "≥" } else { "" };
        format!("{bound}{}", time_ms(ms))
    }
}

//! The variants of a case in the metric that decides: the figure of each, as the tables have it, and its runs from the
//! lowest to the highest.

use std::fmt;

use crate::svg::{FIGURE_WIDTH, Scale, bar, fit, px, round};
use lab_protocol::{Metric, Outcome};
use lab_report::{
    CaseRecord, Run, VariantRecord, join, significant,
    tables::{factor_of, value_of},
    time_ms,
};
use maud::{Markup, html};

use super::{Chart, parts};

/// The distance from one variant to the next.
const PITCH: f64 = 60.0;
const TOP: f64 = 52.0;
/// The shortest interval that is drawn: a shorter one would hide a short bar.
const LEAST_INTERVAL: f64 = 4.0;
/// The bars end before the edge, so that the last tick's text has room.
const RIGHT: f64 = FIGURE_WIDTH - 30.0;

/// The metric of each variant as a bar from 0, with all its runs.
pub fn deciding(case: &CaseRecord) -> Chart {
    let rows: Vec<_> = case.variants.iter().filter_map(|it| DecidingRow::new(case, it)).collect();
    let most = rows.iter().map(|row| row.high).fold(0.0, f64::max);
    let scale = Scale { max: most, start: 6.0, end: RIGHT };
    let bottom = TOP + rows.len() as f64 * PITCH;
    let label = |at| match case.metric {
        Metric::Throughput => round(at),
        _ if at == 0.0 => "0".to_owned(),
        _ => in_its_unit(case.metric, at),
    };
    let ticks = scale.ticks(4).into_iter().map(|it| (scale.at(it), label(it)));
    let name = match case.metric {
        Metric::Throughput => "right answers per second".to_owned(),
        metric => metric.name(),
    };
    let name_first = capitalized(&name);
    let case_name = case.case.named();
    let title = case_name.map_or(name_first.clone(), |case| format!("{name_first}: {case}"));
    let title = fit(&title, FIGURE_WIDTH);
    let what = match runs(case).filter(|run| run.pair.is_some()).count() {
        0 => "one run of each",
        _ => match case.metric {
            Metric::Latency(_) => "all runs together; line: the lowest run to the highest",
            Metric::PeakMemory => "the highest run; line: from the lowest",
            _ => "the median run; line: the lowest to the highest",
        },
    };
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="muted" x="0" y="38" { "Bar: " (what) }
        (parts::axis_below(ticks, &name, (scale.start, RIGHT), (TOP, bottom)))
        @for (index, row) in rows.iter().enumerate() {
            (row.draw(&scale, TOP + index as f64 * PITCH))
        }
    };
    let sentence: Vec<_> = rows.iter().map(DecidingRow::in_a_sentence).collect();
    let of_case = case_name.map_or(String::new(), |case| format!(" of {case}"));
    let alt = format!(
        "{name_first}{of_case}: {}, and in brackets the lowest and the highest run. {}.",
        match case.metric {
            Metric::Latency(_) => "of all runs together",
            Metric::PeakMemory => "the highest run",
            _ => "the median run",
        },
        join(&sentence)
    );
    Chart::new(bottom + parts::BELOW, &title, alt, body)
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// The runs that the metric comes from: a latency's are those of the open loop, if there are any.
fn runs(case: &CaseRecord) -> impl Iterator<Item = &Run> {
    let is_open = matches!(case.metric, Metric::Latency(_)) && !case.open_runs.is_empty();
    if is_open { case.open_runs.iter() } else { case.runs.iter() }
}

/// The metric of one run: answers per second, milliseconds, or MiB.
fn figure(metric: Metric, outcome: &Outcome) -> Option<f64> {
    match metric {
        Metric::Throughput => Some(outcome.throughput()),
        Metric::Cpu => Some(outcome.cpu_us_per_request()? / 1e3),
        Metric::PeakMemory => outcome.server_peak_rss_mib,
        Metric::Time => Some(outcome.time_ns? / 1e6),
        Metric::Latency(at) => outcome.latency.percentile_ms(at.percent()),
    }
}

fn in_its_unit(metric: Metric, figure: f64) -> String {
    match metric {
        Metric::Throughput => significant(figure),
        Metric::PeakMemory => format!("{} MiB", significant(figure)),
        Metric::Cpu | Metric::Latency(_) | Metric::Time => time_ms(figure),
    }
}

struct DecidingRow<'a> {
    variant: &'a VariantRecord,
    metric: Metric,
    class: &'static str,
    /// The lowest figure of all runs, that of the variant as a whole, and the highest.
    low: f64,
    value: f64,
    high: f64,
    /// Its factor over the baseline, with the interval.
    over: Option<String>,
}

impl fmt::Display for DecidingRow<'_> {
    /// `412 (398–430)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [value, low, high] =
            [self.value, self.low, self.high].map(|it| in_its_unit(self.metric, it));
        if low == high { write!(f, "{value}") } else { write!(f, "{value} ({low}–{high})") }
    }
}

impl<'a> DecidingRow<'a> {
    /// `None` if the metric is not known.
    fn new(case: &CaseRecord, variant: &'a VariantRecord) -> Option<Self> {
        let metric = case.metric;
        let runs = runs(case).filter(|run| run.variant == variant.variant);
        let figures: Vec<_> = runs.filter_map(|run| figure(metric, &run.outcome)).collect();
        let value = value_of(case, variant, metric)?;
        let (low, high) =
            figures.iter().fold((value, value), |(low, high), it| (low.min(*it), high.max(*it)));
        // The two that are compared stand out from the steps between them.
        let class = match case.sides() {
            Some((baseline, _)) if baseline.variant == variant.variant => "slow",
            Some((_, candidate)) if candidate.variant == variant.variant => "fixed",
            _ => "step",
        };
        let found = variant.speedup.as_ref().filter(|it| it.of(metric).is_some());
        Some(Self {
            variant,
            metric,
            class,
            low,
            value,
            high,
            over: found.map(|it| factor_of(it, metric)),
        })
    }

    fn draw(&self, scale: &Scale, top: f64) -> Markup {
        let (low, high) = (scale.at(self.low), scale.at(self.high));
        // A tiny value is still visible.
        let end = scale.at(self.value).max(scale.start + 2.0);
        html! {
            text class="value halo" x="0" y=(px(top + 22.0)) {
                tspan class="name-of" { (fit(&self.variant.variant, 150.0)) }
                tspan { " " (self) }
            }
            @if let Some(over) = &self.over {
                text class="muted halo" x=(FIGURE_WIDTH) y=(px(top + 22.0)) text-anchor="end" {
                    (over)
                }
            }
            (bar(&format!("bar {}", self.class), scale.start, end, top + 30.0, 20.0))
            @if high - low >= LEAST_INTERVAL { (parts::interval_across(low, high, top + 40.0)) }
        }
    }

    fn in_a_sentence(&self) -> String {
        let over = self.over.as_ref().map_or(String::new(), |it| format!(", {it}"));
        format!("{} {self}{over}", self.variant.variant)
    }
}

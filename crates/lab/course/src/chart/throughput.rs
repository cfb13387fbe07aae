//! The variants of a case: how many requests each answers, from its slowest run to its fastest.

use lab_display::{
    factor, join,
    picture::{FIGURE_WIDTH, Scale, bar, fit, px, round},
    significant, speedup,
};
use lab_model::{CaseRecord, VariantRecord};
use maud::{Markup, html};

use super::{Chart, parts};

/// The distance from one variant to the next.
const PITCH: f64 = 60.0;
const TOP: f64 = 52.0;
/// The shortest interval that is drawn: a shorter one would hide a short bar.
const LEAST_INTERVAL: f64 = 4.0;
/// The bars end before the edge, so that the last tick's text has room.
const RIGHT: f64 = FIGURE_WIDTH - 30.0;

/// The throughput of each variant as a bar from 0, with all its runs.
pub fn throughput(case: &CaseRecord) -> Chart {
    let rows: Vec<_> = case.variants.iter().map(|variant| Row::new(case, variant)).collect();
    let most = rows.iter().map(|row| row.high).fold(0.0, f64::max);
    let scale = Scale { max: most, start: 6.0, end: RIGHT };
    let bottom = TOP + rows.len() as f64 * PITCH;
    let ticks = scale.ticks(4).into_iter().map(|it| (scale.at(it), round(it)));
    let title = fit(&format!("Requests per second: {}", case.case), FIGURE_WIDTH);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="muted" x="0" y="38" { "Bar: the median run; line: the slowest to the fastest" }
        (parts::axis_below(ticks, "right answers per second", (scale.start, RIGHT), (TOP, bottom)))
        @for (index, row) in rows.iter().enumerate() {
            (row.draw(&scale, TOP + index as f64 * PITCH))
        }
    };
    let sentence: Vec<_> = rows.iter().map(Row::in_a_sentence).collect();
    let alt = format!(
        "Right answers per second of {}: the median run, and in brackets the slowest and the fastest. {}.",
        case.case,
        join(&sentence)
    );
    Chart::new(bottom + parts::BELOW, &title, alt, body)
}

struct Row<'a> {
    variant: &'a VariantRecord,
    class: &'static str,
    /// The lowest throughput of all runs, and the highest.
    low: f64,
    high: f64,
}

impl<'a> Row<'a> {
    fn new(case: &CaseRecord, variant: &'a VariantRecord) -> Self {
        let runs = case.runs.iter().filter(|run| run.variant == variant.variant);
        let median = variant.throughput_rps;
        let (low, high) = runs
            .map(|run| run.outcome.throughput())
            .fold((median, median), |(low, high), it| (low.min(it), high.max(it)));
        // The two that are compared stand out from the steps between them.
        let class = match case.sides() {
            Some((baseline, _)) if baseline.variant == variant.variant => "slow",
            Some((_, candidate)) if candidate.variant == variant.variant => "fixed",
            _ => "step",
        };
        Self { variant, class, low, high }
    }

    fn draw(&self, scale: &Scale, top: f64) -> Markup {
        let (low, high) = (scale.at(self.low), scale.at(self.high));
        // A tiny value is still visible.
        let end = scale.at(self.variant.throughput_rps).max(scale.start + 2.0);
        html! {
            text class="value halo" x="0" y=(px(top + 22.0)) {
                tspan class="name-of" { (fit(&self.variant.variant, 150.0)) }
                tspan { " " (self.in_words()) }
            }
            @if let Some(found) = self.variant.speedup.and_then(|it| it.throughput) {
                text class="muted halo" x=(FIGURE_WIDTH) y=(px(top + 22.0)) text-anchor="end" {
                    (speedup(&found))
                }
            }
            (bar(&format!("bar {}", self.class), scale.start, end, top + 30.0, 20.0))
            @if high - low >= LEAST_INTERVAL { (parts::interval_across(low, high, top + 40.0)) }
        }
    }

    fn in_words(&self) -> String {
        let [median, low, high] =
            [self.variant.throughput_rps, self.low, self.high].map(significant);
        format!("{median} ({low}–{high})")
    }

    fn in_a_sentence(&self) -> String {
        let over = self.variant.speedup.and_then(|it| it.throughput);
        let over = over.map_or(String::new(), |it| format!(", {}", factor(it.estimate)));
        format!("{} {}{over}", self.variant.variant, self.in_words())
    }
}

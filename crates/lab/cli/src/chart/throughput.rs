//! The variants of a case: how many requests each answers, from its slowest run to its fastest.

use maud::{Markup, html};

use super::{Chart, axis, class, join, marks};
use crate::{
    bench::{CaseRecord, VariantRecord},
    display::{factor, significant, speedup},
    picture::{FIGURE_WIDTH, Scale, bar, fit, px, round},
};

/// Where a variant begins below the one before.
const PITCH: f64 = 60.0;
/// Where the first one begins.
const TOP: f64 = 52.0;
/// The shortest line from the slowest run to the fastest that is drawn.
const LEAST_REACH: f64 = 4.0;
/// The bars end before the edge, so that the last tick's text has room.
const RIGHT: f64 = FIGURE_WIDTH - 30.0;

/// The throughput of each variant as a bar from 0, with all its runs.
pub fn case(case: &CaseRecord) -> Chart {
    let rows: Vec<_> = case.variants.iter().map(|variant| Row::new(case, variant)).collect();
    let most = rows.iter().map(|row| row.high.max(row.variant.throughput_rps)).fold(0.0, f64::max);
    let scale = Scale { max: most, start: 6.0, end: RIGHT };
    let bottom = TOP + rows.len() as f64 * PITCH;
    let ticks = scale.ticks(4).into_iter().map(|it| (scale.at(it), round(it)));
    let title = fit(&format!("Requests per second: {}", case.case), FIGURE_WIDTH);
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="muted" x="0" y="38" { "Bar: the median run; line: the slowest to the fastest" }
        (axis::below(ticks, "right answers per second", (scale.start, RIGHT), (TOP, bottom)))
        @for (index, row) in rows.iter().enumerate() {
            (row.draw(&scale, TOP + index as f64 * PITCH))
        }
    };
    Chart::new(bottom + axis::BELOW, &title, alt(case, &rows), body)
}

struct Row<'a> {
    variant: &'a VariantRecord,
    class: &'static str,
    /// Of all runs, the lowest throughput and the highest.
    low: f64,
    high: f64,
}

impl<'a> Row<'a> {
    fn new(case: &CaseRecord, variant: &'a VariantRecord) -> Self {
        let runs = case.runs.iter().filter(|run| run.variant == variant.variant);
        let throughput = runs.map(|run| run.outcome.throughput());
        let (low, high) = throughput
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let middle = variant.throughput_rps;
        Self { variant, class: class(case, variant), low: low.min(middle), high: high.max(middle) }
    }

    fn draw(&self, scale: &Scale, top: f64) -> Markup {
        let at = |value| scale.at(value);
        // What is hardly anything is still seen.
        let end = at(self.variant.throughput_rps).max(scale.start + 2.0);
        html! {
            text class="value halo" x="0" y=(px(top + 22.0)) {
                tspan class="name-of" { (fit(&self.variant.variant, 150.0)) }
                tspan { " " (self.told()) }
            }
            @if let Some(found) = self.variant.speedup.and_then(|it| it.throughput) {
                text class="muted halo" x=(FIGURE_WIDTH) y=(px(top + 22.0)) text-anchor="end" {
                    (speedup(&found))
                }
            }
            (bar(&format!("bar {}", self.class), scale.start, end, top + 30.0, 20.0))
            // One that is shorter than its own lines are thick would hide a short bar.
            @if at(self.high) - at(self.low) >= LEAST_REACH {
                (marks::reach_across("", at(self.low), at(self.high), top + 40.0))
            }
        }
    }

    fn told(&self) -> String {
        let Self { low, high, .. } = self;
        let middle = significant(self.variant.throughput_rps);
        format!("{middle} ({}–{})", significant(*low), significant(*high))
    }
}

fn alt(case: &CaseRecord, rows: &[Row]) -> String {
    let told = |row: &Row| {
        let over = row.variant.speedup.and_then(|it| it.throughput);
        let over = over.map_or(String::new(), |it| format!(", {}", factor(it.estimate)));
        format!("{} {}{over}", row.variant.variant, row.told())
    };
    let rows: Vec<_> = rows.iter().map(told).collect();
    format!(
        "Right answers per second of {}, the median run and in brackets the slowest to the fastest: {}.",
        case.case,
        join(&rows)
    )
}

//! Both sides over a parameter: where the fix pays, where it does not, and where that changes.

use crate::svg::{FIGURE_WIDTH, LogScale, figure_text_width, fit, px};
use lab_cases::{FIXED, SLOW, Sweep, criterion::Bench};
use maud::html;

use super::{
    Chart,
    parts::{self, Label},
};

/// Both sides at one value of the parameter.
#[derive(Clone, Debug)]
pub struct SweepPoint {
    pub parameter: f64,
    pub slow: Bench,
    pub fixed: Bench,
}

type BenchOf = fn(&SweepPoint) -> &Bench;

const LEFT: f64 = 76.0;
const HEIGHT: f64 = 270.0;

/// Both sides over the points in their order, on a logarithmic scale.
pub fn sweep(points: &[SweepPoint], labels: &Sweep) -> Chart {
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.parameter.total_cmp(&other.parameter));
    let axes = format!("Up: {}", labels.time);
    let top = 62.0;
    let bottom = top + HEIGHT;
    let right = FIGURE_WIDTH - figure_text_width(FIXED) - 26.0;
    let pitch = (right - LEFT - 40.0) / (points.len().max(2) - 1) as f64;
    let across = |index: usize| LEFT + 20.0 + index as f64 * pitch;
    let values = points.iter().enumerate();
    let values = values.map(|(index, it)| (across(index), parts::number(it.parameter)));
    let times = points.iter().flat_map(|point| [&point.slow, &point.fixed]);
    let up = LogScale::covering(
        times.flat_map(|time| [time.ns, time.low_ns, time.high_ns]),
        bottom,
        top,
    );
    let up_ticks = up.ticks().into_iter().map(|ns| (up.at(ns), parts::time(ns)));
    let title = fit(&labels.title, FIGURE_WIDTH);
    let sides: [(&str, BenchOf); 2] =
        [("slow", |point| &point.slow), ("fixed", |point| &point.fixed)];
    let body = html! {
        text class="head" x="0" y="16" { (title) }
        text class="small muted" x="0" y=(px(top - 16.0)) { (fit(&axes, FIGURE_WIDTH)) }
        (parts::axis_below(values, &fit(&labels.parameter, right - LEFT), (LEFT, right), (top, bottom)))
        (parts::axis_left(up_ticks, (LEFT, right)))
        @for (class, side) in sides {
            (parts::line(class, points.iter().enumerate().map(|(at, it)| (across(at), up.at(side(it).ns)))))
            @for (at, point) in points.iter().enumerate() {
                @let Bench { ns, low_ns, high_ns, .. } = *side(point);
                (parts::upright(class, across(at), up.at(low_ns), up.at(ns), up.at(high_ns)))
            }
        }
        @if let Some(last) = points.last() {
            @let [slow, fixed] = [&last.slow, &last.fixed].map(|bench| up.at(bench.ns));
            @let name = |text: &str, y| Label { text: text.to_owned(), x: across(points.len() - 1), y };
            @let names = [name(SLOW, slow), name(FIXED, fixed)];
            (parts::labels(&names, right + 26.0, (top + 6.0, bottom - 6.0)))
        }
    };
    let alt = format!("{}. Across: {}; up: {}.", labels.title, labels.parameter, labels.time);
    Chart::new(bottom + parts::BELOW, &title, alt, body)
}

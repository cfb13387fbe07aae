//! The parts of charts: axes, marks for measured values, and names at the ends of lines.

use crate::svg::{px, round};
use maud::{Markup, html};

/// What [`axis_below`] needs beneath the axis.
pub const BELOW: f64 = 46.0;
/// How far the ends of an interval reach to either side of it.
const CAP: f64 = 7.0;
/// The least distance between the lines of two names.
const PITCH: f64 = 20.0;

/// Vertical lines through the chart, each with its text below it, and the axis' name under all.
pub fn axis_below(
    ticks: impl IntoIterator<Item = (f64, String)>,
    name: &str,
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
) -> Markup {
    html! {
        @for (x, text) in ticks {
            line class="grid" x1=(px(x)) x2=(px(x)) y1=(px(top)) y2=(px(bottom)) {}
            text class="tick small muted" x=(px(x)) y=(px(bottom + 19.0)) text-anchor="middle" { (text) }
        }
        line class="axis" x1=(px(left)) x2=(px(right)) y1=(px(bottom)) y2=(px(bottom)) {}
        text class="small muted" x=(px((left + right) / 2.0)) y=(px(bottom + 40.0)) text-anchor="middle" {
            (name)
        }
    }
}

/// Horizontal lines through the chart, each with its text to the left.
pub fn axis_left(
    ticks: impl IntoIterator<Item = (f64, String)>,
    (left, right): (f64, f64),
) -> Markup {
    html! {
        @for (y, text) in ticks {
            line class="grid" x1=(px(left)) x2=(px(right)) y1=(px(y)) y2=(px(y)) {}
            text class="tick small muted" x=(px(left - 8.0)) y=(px(y + 5.0)) text-anchor="end" { (text) }
        }
    }
}

/// A tick's number, short enough for the next one to fit: `100 k` for 100,000.
pub fn number(value: f64) -> String {
    match value {
        value if value >= 999_500.0 => format!("{} M", round(value / 1e6)),
        value if value >= 9_999.5 => format!("{} k", round(value / 1e3)),
        value => round(value),
    }
}

pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", round(ns)),
        ns if ns < 1e6 => format!("{} µs", round(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", round(ns / 1e6)),
        ns => format!("{} s", round(ns / 1e9)),
    }
}

/// An interval on a horizontal axis. It is visible on a bar of any colour.
pub fn interval_across(low: f64, high: f64, y: f64) -> Markup {
    let [low, high, y, top, bottom] = [low, high, y, y - CAP, y + CAP].map(px);
    let line = format!("M{low} {top}V{bottom}M{low} {y}H{high}M{high} {top}V{bottom}");
    html! {
        path class="casing" d=(line) {}
        path class="reach " d=(line) {}
    }
}

/// A value on a vertical axis with its interval.
pub fn upright(class: &str, x: f64, low: f64, at: f64, high: f64) -> Markup {
    let [left, right, low_y, high_y, middle] = [x - CAP, x + CAP, low, high, x].map(px);
    let line = format!("M{left} {low_y}H{right}M{middle} {low_y}V{high_y}M{left} {high_y}H{right}");
    html! {
        path class={ "reach " (class) } d=(line) {}
        (dot(class, x, at))
    }
}

/// A value without an interval. The shapes differ too, for readers who cannot see the colours: slow
/// is round, and fixed has corners.
pub fn dot(class: &str, x: f64, y: f64) -> Markup {
    let corners = format!("M{} {}l5.5 5.5 -5.5 5.5 -5.5 -5.5z", px(x), px(y - 5.5));
    html! {
        @match class {
            "fixed" => path class="dot fixed" d=(corners) {},
            _ => circle class={ "dot " (class) } cx=(px(x)) cy=(px(y)) r="4.5" {},
        }
    }
}

pub fn line(class: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Markup {
    let points: Vec<_> = points.into_iter().map(|(x, y)| format!("{},{}", px(x), px(y))).collect();
    html! { polyline class={ "line " (class) } points=(points.join(" ")) {} }
}

/// The name of a line that ends at `(x, y)`.
pub struct Label {
    pub text: String,
    pub x: f64,
    pub y: f64,
}

/// Names at the ends of lines, from `left` on, moved apart where they would overlap.
pub fn labels(labels: &[Label], left: f64, (top, bottom): (f64, f64)) -> Markup {
    let heights: Vec<_> = labels.iter().map(|label| label.y).collect();
    html! {
        @for (label, y) in labels.iter().zip(places(&heights, top, bottom)) {
            @let line = format!(
                "M{} {}L{} {}H{}",
                px(label.x + 7.0), px(label.y), px(left - 14.0), px(y), px(left - 4.0)
            );
            path class="leader" d=(line) {}
            text class="name" x=(px(left)) y=(px(y + 5.0)) { (label.text) }
        }
    }
}

/// Places near the wanted ones, in their order, and far enough from each other.
pub fn places(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<_> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]));
    let mut places = wanted.to_vec();
    let mut next = top;
    for index in &order {
        places[*index] = places[*index].max(next);
        next = places[*index] + PITCH;
    }
    // Those that were pushed out at the bottom push the others back up.
    let mut last = bottom;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(last);
        last = places[*index] - PITCH;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_unit_that_suits_them() {
        assert_eq!([0.0, 1e3, 1e4, 2.5e8].map(number), ["0", "1,000", "10 k", "250 M"]);
        assert_eq!([50.0, 1e3, 1.5e6, 2e10].map(time), ["50 ns", "1 µs", "1.50 ms", "20 s"]);
    }

    #[test]
    fn names_keep_their_order_and_do_not_overlap() {
        assert_eq!(places(&[50.0, 10.0, 52.0], 0.0, 200.0), [50.0, 10.0, 70.0]);
        assert_eq!(places(&[198.0, 199.0, 200.0], 0.0, 200.0), [160.0, 180.0, 200.0]);
    }
}

//! The parts of charts: axes, marks for measured values, and names at the ends of lines.

use lab_display::picture::{px, round};
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

/// A value. The shapes differ too, for readers who cannot see the colours: slow
/// is round, and fixed has corners.
fn dot(class: &str, x: f64, y: f64) -> Markup {
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

/// The names of two lines at their ends, moved apart where they would overlap.
pub fn names([one, other]: [(&str, f64); 2], x: f64) -> Markup {
    let missing = (PITCH - (one.1 - other.1).abs()).max(0.0) / 2.0;
    let up = if one.1 < other.1 { missing } else { -missing };
    html! {
        @for (name, y) in [(one.0, one.1 - up), (other.0, other.1 + up)] {
            text class="name" x=(px(x)) y=(px(y + 5.0)) { (name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_unit_that_suits_them() {
        assert_eq!([0.0, 1e3, 1e4, 2.5e8].map(number), ["0", "1,000", "10 k", "250 M"]);
        assert_eq!([50.0, 1e3, 1.5e6, 2e10].map(time), ["50 ns", "1 µs", "1.50 ms", "20 s"]);
    }
}

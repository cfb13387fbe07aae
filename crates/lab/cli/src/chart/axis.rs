//! Axes of charts: lines through the chart at round values, and what they stand for.

use maud::{Markup, html};

use crate::picture::{px, round};

/// Lines from top to bottom at places, each with its text below it, and the axis' name under all.
pub fn below(
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

/// Lines from left to right at heights, each with its text to the left of it.
pub fn beside(ticks: impl IntoIterator<Item = (f64, String)>, (left, right): (f64, f64)) -> Markup {
    html! {
        @for (y, text) in ticks {
            line class="grid" x1=(px(left)) x2=(px(right)) y1=(px(y)) y2=(px(y)) {}
            text class="tick small muted" x=(px(left - 8.0)) y=(px(y + 5.0)) text-anchor="end" { (text) }
        }
    }
}

/// What [`below`] needs beneath the axis.
pub const BELOW: f64 = 46.0;

/// A tick's number, short enough to stand beside the next one: `100 k` for 100,000.
pub fn number(value: f64) -> String {
    match value {
        value if value >= 999_500.0 => format!("{} M", round(value / 1e6)),
        value if value >= 9_999.5 => format!("{} k", round(value / 1e3)),
        value => round(value),
    }
}

/// A round time, in the unit that suits it.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", round(ns)),
        ns if ns < 1e6 => format!("{} µs", round(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", round(ns / 1e6)),
        ns => format!("{} s", round(ns / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_told_in_thousands_and_millions() {
        assert_eq!(
            [0.0, 1e3, 1e4, 1e6, 2.5e8].map(number),
            ["0", "1,000", "10 k", "1 M", "250 M"].map(str::to_owned)
        );
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!(
            [50.0, 1e3, 1.5e6, 2e10].map(time),
            ["50 ns", "1 µs", "1.50 ms", "20 s"].map(str::to_owned)
        );
    }
}

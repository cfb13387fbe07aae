//! A linear scale and its axis, with round numbers at the ticks.

use maud::{Markup, html};

use super::px;
use lab_report::{significant, thousands};

/// Values from 0 to a maximum, mapped to coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub max: f64,
    /// The coordinate of 0.
    pub start: f64,
    /// The coordinate of the maximum; less than `start` for an axis that points upwards.
    pub end: f64,
}

impl Scale {
    /// The coordinate of a value; the nearer end for a value outside the scale.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.max > 0.0 { (value / self.max).clamp(0.0, 1.0) } else { 0.0 };
        self.start + share * (self.end - self.start)
    }

    /// About `about` round values: steps of 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, about: usize) -> Vec<f64> {
        if self.max <= 0.0 {
            return vec![0.0];
        }
        let rough = self.max / about.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
        // Multiplication instead of addition, which adds up rounding errors.
        let last = (self.max / step + 1e-9).floor() as u64;
        (0..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// A time axis with lines from top to bottom and labels below. The scale's values are milliseconds.
pub fn time_axis(scale: &Scale, top: f64, bottom: f64, about: usize) -> Markup {
    let label = |ms: f64| match scale.max {
        max if max >= 2000.0 => format!("{} s", round(ms / 1e3)),
        max if max < 2.0 => format!("{} µs", round(ms * 1e3)),
        _ => format!("{} ms", round(ms)),
    };
    html! {
        @for tick in scale.ticks(about) {
            @let x = px(scale.at(tick));
            line class="grid" x1=(x) x2=(x) y1=(px(top)) y2=(px(bottom)) {}
            text class="tick muted" x=(x) y=(px(bottom + 16.0)) text-anchor="middle" { (label(tick)) }
        }
    }
}

/// Formats a tick's number without unnecessary digits.
pub fn round(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { thousands(value) } else { significant(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(max: f64) -> Scale {
        Scale { max, start: 100.0, end: 300.0 }
    }

    #[test]
    fn ticks_are_round_and_within_the_scale() {
        assert_eq!(scale(640.0).ticks(6), [0.0, 200.0, 400.0, 600.0]);
        assert_eq!(scale(640.0).ticks(8), [0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0]);
        assert_eq!(scale(11_234.0).ticks(4), [0.0, 5000.0, 10_000.0]);
        assert_eq!(scale(0.3).ticks(3), [0.0, 0.1, 0.2, 0.30000000000000004]);
        assert_eq!(scale(0.0).ticks(3), [0.0]);
    }

    #[test]
    fn ticks_have_a_unit() {
        let axis = |max| time_axis(&scale(max), 0.0, 10.0, 4).into_string();
        assert!(axis(640.0).contains(">200 ms<"));
        assert!(axis(9000.0).contains(">5 s<"));
        assert!(axis(0.9).contains(">500 µs<"));
    }
}

//! The verdict on a speedup and its control, and the rule behind it.
//!
//! All distances are between logarithms, so the rules treat "faster" and "slower" alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Speedup;

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is faster, by more than chance and the machine's noise explain.
    Faster,
    /// The candidate is slower, by more than chance and the machine's noise explain.
    Slower,
    /// A difference that matters would have been visible, and there was none.
    NoDifferenceShown,
    /// The noise could hide a difference that matters.
    TooNoisy,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifferenceShown => "no difference shown",
            Self::TooNoisy => "too noisy: rerun with more pairs",
        })
    }
}

/// A verdict with its reason.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The rule that decided, with its figures: a clause without a full stop.
    pub reason: String,
}

/// Judges a candidate by its speedup and by the `control`: the baseline against itself, measured in
/// the same way. `minimum_effect` is the smallest difference that matters, 0.03 for 3 %.
///
/// The first rule that applies decides:
///
/// 1. Too noisy, if there is no 95 % interval, which takes 6 pairs, however large the factor is.
/// 2. Faster or slower, if the interval excludes 1, the estimate is at least `minimum_effect` away
///    from 1, and also farther away than both ends of the control's interval. If only the last
///    condition fails, it is too noisy: the control shows such a difference without a cause.
/// 3. No difference shown, if half the interval is at most `minimum_effect`.
/// 4. Too noisy.
///
/// A control of few pairs needs no extra rule. Its interval reaches from the smallest to the largest
/// pair, while the candidate's estimate is a middle of all pairs and varies less. So few pairs make
/// the control strict. Without a control, rule 2 cannot detect a bias in the set-up.
pub fn judge(
    speedup: Option<&Speedup>,
    control: Option<&Speedup>,
    minimum_effect: f64,
) -> Judgement {
    let too_noisy = |reason| Judgement { verdict: Verdict::TooNoisy, reason };
    let Some(speedup) = speedup else {
        return too_noisy("no pair of runs gave a ratio".to_owned());
    };
    if !speedup.is_confident() {
        return too_noisy(format!(
            "the interval has a confidence of {:.0} %; 95 % takes at least 6 pairs",
            // Rounded down, because 94.9 % is not 95 %.
            (100.0 * speedup.confidence).floor()
        ));
    }
    let minimum = minimum_effect.ln_1p();
    let estimate = speedup.estimate.ln();
    let excludes_one = speedup.low > 1.0 || speedup.high < 1.0;
    if excludes_one && estimate.abs() >= minimum {
        return by_control(speedup, control);
    }
    let half_width = (speedup.high.ln() - speedup.low.ln()) / 2.0;
    let (half, least) = (percent(half_width.exp()), percent(1.0 + minimum_effect));
    if half_width > minimum {
        return too_noisy(format!(
            "the interval is ±{half} wide, which can hide a difference of {least}"
        ));
    }
    let reason = if excludes_one {
        format!(
            "the difference of {} is smaller than the minimum of {least}",
            signed(speedup.estimate)
        )
    } else {
        format!(
            "the interval contains 1, and at ±{half} it would have shown a difference of {least}"
        )
    };
    Judgement { verdict: Verdict::NoDifferenceShown, reason }
}

/// Rule 2: is the difference larger than the control's?
fn by_control(speedup: &Speedup, control: Option<&Speedup>) -> Judgement {
    let difference = signed(speedup.estimate);
    let interval = format!("the {:.0} % interval", 100.0 * speedup.confidence);
    let verdict = if speedup.estimate > 1.0 { Verdict::Faster } else { Verdict::Slower };
    let reach = speedup.estimate.max(1.0 / speedup.estimate);
    let Some(control) = control else {
        let reason = format!("{interval} excludes 1; there was no control");
        return Judgement { verdict, reason };
    };
    let floor = percent(control.reach());
    if reach > control.reach() {
        let reason =
            format!("{interval} excludes 1, and {difference} is more than the control's ±{floor}");
        return Judgement { verdict, reason };
    }
    let reason = format!(
        "the control, the baseline against itself, shows up to ±{floor}, \
         so {difference} may be noise"
    );
    Judgement { verdict: Verdict::TooNoisy, reason }
}

/// Formats a factor of at least 1 as its excess over 1: 1.018 as `1.8 %`.
fn percent(factor: f64) -> String {
    format!("{:.1} %", 100.0 * (factor - 1.0))
}

/// Formats 0.95 as `-5.0 %`, and a factor beyond 2 as such.
fn signed(factor: f64) -> String {
    if (0.5..=2.0).contains(&factor) {
        format!("{:+.1} %", 100.0 * (factor - 1.0))
    } else {
        format!("a factor of {factor:.3}")
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;

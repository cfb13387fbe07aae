//! What a speedup and its control allow to be said, and which rule said so.
//!
//! All distances are between logarithms, so that "faster" and "slower" are judged alike.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Speedup;

/// What a comparison shows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is faster, by more than chance and this machine's noise account for.
    Faster,
    /// The candidate is slower, by more than chance and this machine's noise account for.
    Slower,
    /// A difference that matters would have been seen, and none was.
    NoDifferenceShown,
    /// A difference that matters could hide in the noise.
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

/// A verdict, and why it is not another one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Judgement {
    /// What may be said.
    pub verdict: Verdict,
    /// The rule that decided, with its figures: a clause without a full stop.
    pub reason: String,
}

/// Judges a candidate by its speedup and by the `control`: the baseline against itself, measured in
/// the same way. `minimum_effect` is the smallest difference that matters, 0.03 for 3 %.
///
/// The first rule that applies decides:
///
/// 1. Without a 95 % interval, which takes 6 pairs, it is too noisy, however large the factor.
/// 2. An interval beside 1 and an estimate at least `minimum_effect` from 1 are faster or slower if
///    the estimate is also farther from 1 than any end of the control's interval. If it is not, it
///    is too noisy: what the control shows from no cause, the candidate can show from none too.
/// 3. If half the interval is at most `minimum_effect`, no difference is shown.
/// 4. Otherwise it is too noisy.
///
/// A control of few pairs needs no rule of its own. Its interval is that of single pairs, from the
/// smallest to the largest, where the candidate's estimate is a middle of all pairs and so scatters
/// less: few pairs make the control strict. Without a control, rule 2 has only the interval to
/// trust, which knows nothing of a bias in the set-up.
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
            "the interval has a confidence of {:.0} %, and one of 95 % takes at least 6 pairs",
            // Rounded down: 94.9 % are not 95 %.
            (100.0 * speedup.confidence).floor()
        ));
    }
    let minimum = minimum_effect.ln_1p();
    let estimate = speedup.estimate.ln();
    let beside_one = speedup.low > 1.0 || speedup.high < 1.0;
    if beside_one && estimate.abs() >= minimum {
        return by_control(speedup, control);
    }
    let half_width = (speedup.high.ln() - speedup.low.ln()) / 2.0;
    let (half, least) = (percent(half_width.exp()), percent(1.0 + minimum_effect));
    if half_width > minimum {
        return too_noisy(format!("the interval is ±{half} wide, which can hide {least}"));
    }
    let reason = if beside_one {
        format!("the difference of {} is below the {least} that matter", signed(speedup.estimate))
    } else {
        format!("the interval contains 1, and at ±{half} it would have shown {least}")
    };
    Judgement { verdict: Verdict::NoDifferenceShown, reason }
}

/// Rule 2: whether a difference that the interval shows is more than the control's.
fn by_control(speedup: &Speedup, control: Option<&Speedup>) -> Judgement {
    let difference = signed(speedup.estimate);
    let interval = format!("the {:.0} % interval", 100.0 * speedup.confidence);
    let verdict = if speedup.estimate > 1.0 { Verdict::Faster } else { Verdict::Slower };
    let (side, reach) = match verdict {
        Verdict::Faster => ("above", speedup.estimate),
        _ => ("below", 1.0 / speedup.estimate),
    };
    let Some(control) = control else {
        let reason = format!("{interval} lies {side} 1; there was no control to compare with");
        return Judgement { verdict, reason };
    };
    let floor = percent(control.reach());
    if reach > control.reach() {
        let reason = format!(
            "{interval} lies {side} 1, and {difference} is more than the control's ±{floor}"
        );
        return Judgement { verdict, reason };
    }
    let reason = format!(
        "the control, the baseline against itself, moved by up to ±{floor}, \
         so that {difference} may be noise too"
    );
    Judgement { verdict: Verdict::TooNoisy, reason }
}

/// A factor of at least 1 as the share by which it exceeds 1: 1.018 as `1.8 %`.
fn percent(factor: f64) -> String {
    format!("{:.1} %", 100.0 * (factor - 1.0))
}

/// A factor as a signed difference: 0.95 as `-5.0 %`; one that is more than twice as a factor.
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

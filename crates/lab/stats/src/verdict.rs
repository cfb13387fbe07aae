//! The verdict on a speedup and its control, and the rule behind it.
//!
//! All distances are between logarithms, so the rules treat "faster" and "slower" alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Speedup;

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is faster, by more than chance and the machine's noise explain.
    Faster,
    /// The candidate is slower, by more than chance and the machine's noise explain.
    Slower,
    /// The candidate is faster, but by less than matters.
    SlightlyFaster,
    /// The candidate is slower, but by less than matters.
    SlightlySlower,
    /// There may be a difference, but one that is smaller than matters.
    Equivalent,
    /// The runs do not show which of the others is true.
    #[default]
    Undecided,
}

impl Verdict {
    /// 1 for a candidate that is faster, -1 for one that is slower, and 0 if neither is shown.
    pub fn direction(self) -> i8 {
        match self {
            Self::Faster | Self::SlightlyFaster => 1,
            Self::Slower | Self::SlightlySlower => -1,
            Self::Equivalent | Self::Undecided => 0,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::SlightlyFaster => "slightly faster",
            Self::SlightlySlower => "slightly slower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub reason: VerdictRule,
}

/// The rule that decided, with its figures. All are factors, but for `confidence`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum VerdictRule {
    /// No pair of runs has a ratio.
    NoRatio,
    /// Too few for an interval of 95 %.
    FewPairs { confidence: f64 },
    /// The interval excludes 1, and there was no control.
    NoControl { low: f64, high: f64, confidence: f64 },
    /// The interval excludes 1 and what the control is off by.
    BeyondNoise {
        low: f64,
        high: f64,
        confidence: f64,
        /// The distance of the control from 1. Records from before November 28, 2026 call it the noise.
        #[serde(alias = "noise")]
        control: f64,
        /// [`Speedup::noise`]; 0 in those records.
        #[serde(default)]
        noise_factor: f64,
    },
    /// The interval excludes 1, but not what the control is off by.
    WithinNoise {
        low: f64,
        high: f64,
        confidence: f64,
        #[serde(alias = "noise")]
        control: f64,
        #[serde(default)]
        noise_factor: f64,
    },
    /// A difference is shown, and one that is smaller than `minimum`.
    BelowMinimum { estimate: f64, inner: [f64; 2], minimum: f64 },
    /// Any difference is smaller than `minimum`, but what the control is off by is not.
    NoisyControl {
        inner: [f64; 2],
        minimum: f64,
        #[serde(alias = "noise")]
        control: f64,
        #[serde(default)]
        noise_factor: f64,
    },
    /// Any difference is smaller than `minimum`.
    NoDifference { inner: [f64; 2], minimum: f64 },
    /// A difference is shown. Whether it reaches `minimum` is not.
    NearMinimum { estimate: f64, low: f64, high: f64, minimum: f64 },
    /// The interval contains both 1 and `minimum`.
    WideInterval { low: f64, high: f64, minimum: f64 },
}

/// Judges a candidate by its speedup and by the `control`: the baseline against itself, measured in
/// the same way. `minimum_effect` is the smallest difference that matters, 0.03 for 3 %.
///
/// The first rule that applies decides:
///
/// 1. Undecided, if there is no 95 % interval, which takes 6 pairs, however large the factor is.
/// 2. Faster or slower, if the estimate is at least `minimum_effect` away from 1, and the whole
///    interval is farther away from 1 than the control's estimate. If the interval excludes 1 but not
///    the control's estimate, it is undecided: the control shows such a difference without a cause.
/// 3. If the 90 % interval ([`Speedup::inner`]) is within `minimum_effect` of 1: slightly faster or
///    slower, if the whole 95 % interval is farther away from 1 than the control's estimate, and else
///    equivalent. If the control's estimate is not within `minimum_effect` of 1, it is undecided: a
///    machine that shows such a difference without a cause may as well have hidden one.
/// 4. Undecided.
///
/// All of this is about logarithms, where 0.909 is as far from 1 as 1.1 is: with a `minimum_effect` of
/// 10 %, a loss of 9.1 % counts as 10 %.
///
/// The control counts by its estimate and not by the ends of its interval, which are far apart because
/// it has few pairs. A rule with those ends misses most of what this rule detects: with 15 pairs on the
/// busy machine of `simulation/`, it detects a true 5 % in 15 of 100 sessions, and this rule in 56.
pub fn judge(
    speedup: Option<&Speedup>,
    control: Option<&Speedup>,
    minimum_effect: f64,
) -> Judgement {
    let undecided = |reason| Judgement { verdict: Verdict::Undecided, reason };
    let Some(speedup) = speedup else { return undecided(VerdictRule::NoRatio) };
    let &Speedup { estimate, low, high, confidence, inner, .. } = speedup;
    if !speedup.is_confident() {
        return undecided(VerdictRule::FewPairs { confidence });
    }
    let excludes_one = low > 1.0 || high < 1.0;
    if excludes_one && estimate.ln().abs() >= minimum_effect.ln_1p() {
        return by_control(speedup, control);
    }
    let minimum = 1.0 + minimum_effect;
    let is_within =
        |[low, high]: &[f64; 2]| low.ln().abs().max(high.ln().abs()) <= minimum_effect.ln_1p();
    let off_by = off_by(control);
    match inner.filter(is_within) {
        Some(inner) if off_by.ln() > minimum_effect.ln_1p() => {
            let noise_factor = control.map_or(off_by, |control| speedup.noise(control));
            undecided(VerdictRule::NoisyControl { inner, minimum, control: off_by, noise_factor })
        }
        Some(inner) if excludes_one && exceeds(speedup, off_by) => Judgement {
            verdict: if estimate > 1.0 { Verdict::SlightlyFaster } else { Verdict::SlightlySlower },
            reason: VerdictRule::BelowMinimum { estimate, inner, minimum },
        },
        Some(inner) => Judgement {
            verdict: Verdict::Equivalent,
            reason: VerdictRule::NoDifference { inner, minimum },
        },
        None if excludes_one => {
            undecided(VerdictRule::NearMinimum { estimate, low, high, minimum })
        }
        None => undecided(VerdictRule::WideInterval { low, high, minimum }),
    }
}

/// Rule 2: is the whole interval farther from 1 than what the control is off by?
fn by_control(speedup: &Speedup, control: Option<&Speedup>) -> Judgement {
    let &Speedup { estimate, low, high, confidence, .. } = speedup;
    let verdict = if estimate > 1.0 { Verdict::Faster } else { Verdict::Slower };
    let Some(control) = control else {
        return Judgement { verdict, reason: VerdictRule::NoControl { low, high, confidence } };
    };
    let (off_by, noise_factor) = (control.distance(), speedup.noise(control));
    if exceeds(speedup, off_by) {
        let reason =
            VerdictRule::BeyondNoise { low, high, confidence, control: off_by, noise_factor };
        return Judgement { verdict, reason };
    }
    let reason = VerdictRule::WithinNoise { low, high, confidence, control: off_by, noise_factor };
    Judgement { verdict: Verdict::Undecided, reason }
}

/// The distance of the control from 1, as a factor of at least 1.
fn off_by(control: Option<&Speedup>) -> f64 {
    control.map_or(1.0, Speedup::distance)
}

/// Whether the whole interval is farther from 1 than this factor.
fn exceeds(speedup: &Speedup, off_by: f64) -> bool {
    speedup.low > off_by || speedup.high < 1.0 / off_by
}

#[cfg(test)]
mod tests;

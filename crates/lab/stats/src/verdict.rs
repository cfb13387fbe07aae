//! The verdict on a speedup and its control, and the rule behind it.
//!
//! All distances are between logarithms, so the rules treat "faster" and "slower" alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Speedup;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
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
/// 1. Undecided, if there is no 95 % interval, which takes 6 pairs, however large the factor is.
/// 2. Faster or slower, if the estimate is at least `minimum_effect` away from 1, and the whole
///    interval is farther away from 1 than the control's estimate. If the interval excludes 1 but not
///    the control's estimate, it is undecided: the control shows such a difference without a cause.
/// 3. If the 90 % interval ([`Speedup::inner`]) is within `minimum_effect` of 1: slightly faster or
///    slower, if the whole 95 % interval is farther away from 1 than the control's estimate, and else
///    equivalent.
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
    let Some(speedup) = speedup else {
        return undecided("no pair of runs gave a ratio; run longer".to_owned());
    };
    if !speedup.is_confident() {
        return undecided(format!(
            "the interval has a confidence of {:.0} %; run at least 6 pairs, which give 95 %",
            // Rounded down, because 94.9 % is not 95 %.
            (100.0 * speedup.confidence).floor()
        ));
    }
    let excludes_one = speedup.low > 1.0 || speedup.high < 1.0;
    if excludes_one && speedup.estimate.ln().abs() >= minimum_effect.ln_1p() {
        return by_control(speedup, control);
    }
    let least = percent(1.0 + minimum_effect);
    if let Some([low, high]) = speedup.inner
        && low.ln().abs().max(high.ln().abs()) <= minimum_effect.ln_1p()
    {
        let inner = format!("{} to {}", signed(low), signed(high));
        return if excludes_one && exceeds(speedup, noise(control)) {
            let verdict = match speedup.estimate > 1.0 {
                true => Verdict::SlightlyFaster,
                false => Verdict::SlightlySlower,
            };
            let difference = signed(speedup.estimate);
            let reason =
                format!("{difference} ({inner}) is less than the minimum effect of {least}");
            Judgement { verdict, reason }
        } else {
            let reason =
                format!("the 90 % interval, {inner}, is within the minimum effect of {least}");
            Judgement { verdict: Verdict::Equivalent, reason }
        };
    }
    let difference = signed(speedup.estimate);
    let ends = ends(speedup);
    undecided(if excludes_one {
        format!(
            "{difference} is less than the minimum effect of {least}, but the interval, {ends}, \
             reaches beyond it; run more pairs"
        )
    } else {
        format!(
            "the interval, {ends}, contains both no difference and one of {least}; \
             run more pairs or longer ones, or use a quieter machine"
        )
    })
}

/// Rule 2: is the whole interval farther from 1 than the control's estimate?
fn by_control(speedup: &Speedup, control: Option<&Speedup>) -> Judgement {
    let verdict = if speedup.estimate > 1.0 { Verdict::Faster } else { Verdict::Slower };
    let ends = ends(speedup);
    let excludes = format!("the {:.0} % interval, {ends}, excludes 1", 100.0 * speedup.confidence);
    if control.is_none() {
        return Judgement { verdict, reason: format!("{excludes}; there was no control") };
    }
    let noise = noise(control);
    let shown = percent(noise);
    if exceeds(speedup, noise) {
        let reason = format!("{excludes} and the control's estimate, ±{shown}");
        return Judgement { verdict, reason };
    }
    let reason = format!(
        "{excludes}, but not the ±{shown} that the control, the baseline against itself, shows; \
         run more pairs or use a quieter machine"
    );
    Judgement { verdict: Verdict::Undecided, reason }
}

/// The control's estimate, as a factor of at least 1.
fn noise(control: Option<&Speedup>) -> f64 {
    control.map_or(1.0, |control| control.estimate.max(1.0 / control.estimate))
}

/// Whether the whole interval is farther from 1 than this factor.
fn exceeds(speedup: &Speedup, noise: f64) -> bool {
    speedup.low > noise || speedup.high < 1.0 / noise
}

/// Formats a factor of at least 1 as its excess over 1: 1.018 as `1.8 %`.
fn percent(factor: f64) -> String {
    format!("{:.1} %", 100.0 * (factor - 1.0))
}

/// Formats 0.95 as `-5.0 %`.
fn signed(factor: f64) -> String {
    format!("{:+.1} %", 100.0 * (factor - 1.0))
}

/// Formats an interval as `-5.0 % to +1.0 %`, and a wide one as `0.42× to 2.10×`.
fn ends(Speedup { low, high, .. }: &Speedup) -> String {
    match *low >= 0.5 && *high <= 2.0 {
        true => format!("{} to {}", signed(*low), signed(*high)),
        false => format!("{low:.2}× to {high:.2}×"),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;

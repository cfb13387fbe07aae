//! The speedup, estimated from pairs of consecutive runs.
//!
//! A machine's speed drifts. Two consecutive runs share most of the drift, so it cancels in their
//! ratio. It does not cancel in a ratio of two averages. The remaining noise has outliers, because
//! other processes sometimes take the machine for a while. Ranks tolerate outliers and means do not;
//! `docs/src/method.md` has the difference.

use serde::{Deserialize, Serialize};

use super::{
    looks::Look,
    median::middle,
    signed_rank::{EQUIVALENCE, NOMINAL, depth},
};

/// A factor between a baseline and a candidate: above 1, the candidate is better.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Speedup {
    /// The Hodges-Lehmann estimate: the median of all Walsh averages.
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// The probability, from 0 to 1, that `low..=high` covers the true factor: 0.969 for 6 pairs,
    /// 0.951 for 10, and below 0.95 for fewer than 6. Of several looks or candidates, that all of their intervals do.
    pub confidence: f64,
    /// The 90 % interval. Two one-sided tests at 5 % show that the sides differ by no more than its
    /// farther end. `None` below 5 pairs, which have no 90 % interval.
    pub inner: Option<[f64; 2]>,
    /// By which factor, at least 1, the ends were moved apart because the answers are few: see [`count_error`].
    #[serde(default = "nothing", skip_serializing_if = "is_nothing")]
    pub count_error: f64,
}

fn nothing() -> f64 {
    1.0
}

fn is_nothing(factor: &f64) -> bool {
    *factor == nothing()
}

impl Speedup {
    /// Takes one ratio per pair. Returns `None` without a positive, finite ratio.
    ///
    /// All calculations use the logarithms of the ratios, because 2 and 1/2 are equally far from no
    /// difference. The *Walsh averages* are the means of every two logarithms, and of each with
    /// itself; as factors they are geometric means. The estimate is their median (Hodges and Lehmann,
    /// *Annals of Mathematical Statistics* 34, 1963). The interval holds the factors that Wilcoxon's
    /// signed-rank test does not reject. [`Speedup::confidence`] is exact if the logarithms are
    /// symmetric about the true one, which holds if order and noise affect both sides alike.
    ///
    /// Equal ratios and ratios of 1 need no correction: with ties, the closed interval covers the true
    /// factor at least as often.
    pub fn of_pairs(ratios: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::of_look(ratios, Look::only(usize::MAX, 1))
    }

    /// Like [`Self::of_pairs`], for one of several looks or candidates. The interval is wider, so that the chance that
    /// any look at any of the candidates misses is what it is for one interval. Pairs after those of the look don't
    /// count yet.
    ///
    /// The bound of Bonferroni needs no independence, so it also holds for candidates that share a machine's drift.
    /// For 8 candidates with a baseline run of their own for each pair, which are nearly independent, it is 0.1 %
    /// away from the exact one (Šidák).
    pub fn of_look(ratios: impl IntoIterator<Item = f64>, look: Look) -> Option<Self> {
        let share = look.share();
        let ratios = ratios.into_iter().take(look.pairs);
        let ratios: Vec<_> = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
        let averages = walsh_averages(&ratios);
        let (lower, upper) = middle(&averages)?;
        let ends = |k: usize| [averages[k - 1], averages[averages.len() - k]];
        let [difference, equivalence] =
            [NOMINAL, EQUIVALENCE].map(|nominal| depth(ratios.len(), look.confidence(nominal)));
        let of_all = |each: f64| (1.0 - (1.0 - each) / share).max(0.0);
        let [low, high] = ends(difference.k);
        Some(Self {
            estimate: geometric_mean(lower, upper),
            low,
            high,
            confidence: of_all(difference.confidence),
            inner: (equivalence.confidence >= look.confidence(EQUIVALENCE))
                .then(|| ends(equivalence.k)),
            count_error: nothing(),
        })
    }

    /// The same estimate in an interval whose ends are this factor farther away: for figures that are
    /// themselves known only to within a factor of at least 1, see [`count_error`].
    pub fn widened(self, by: f64) -> Self {
        Self {
            low: self.low / by,
            high: self.high * by,
            inner: self.inner.map(|[low, high]| [low / by, high * by]),
            count_error: self.count_error * by,
            ..self
        }
    }

    /// Whether the confidence is high enough for a verdict.
    pub fn is_confident(&self) -> bool {
        self.confidence >= NOMINAL
    }

    /// The distance of the estimate from 1, as a factor of at least 1: 1 / 0.95 for 0.95. Of a control, verdicts use
    /// this and not its ends, see [`judge`](crate::judge).
    pub fn distance(&self) -> f64 {
        self.estimate.max(1.0 / self.estimate)
    }

    /// How far the ends of the interval are from the estimate at most, as a factor of at least 1.
    pub fn width(&self) -> f64 {
        (self.estimate / self.low).max(self.high / self.estimate)
    }

    /// How far the estimate is from the end of its interval that is nearer to 1, as a factor of at least 1.
    fn margin(&self) -> f64 {
        if self.estimate >= 1.0 { self.estimate / self.low } else { self.high / self.estimate }
    }

    /// The noise of this factor, itself a factor of at least 1: what two equal servers could differ by, on this machine
    /// and with as many pairs. An estimate that is no farther from 1 shows no difference.
    ///
    /// That is what the `control`, the baseline against itself, is off by, times the margin of error that a factor of
    /// these pairs has. Its control's own margin would be that of fewer pairs. Few answers make it wider, and those of
    /// two equal servers are as few as the baseline's.
    ///
    /// An estimate is beyond the noise exactly if its interval excludes 1 and what the control is off by, unless the
    /// baseline has fewer answers than the candidate. `simulation/` compares it with other figures that could be called
    /// so.
    pub fn noise(&self, control: &Self) -> f64 {
        let few_answers = self.count_error.max(control.count_error) / self.count_error;
        control.distance() * self.margin() * few_answers
    }
}

/// How far the ratio of two rates may be off, as a factor, because each rate is a small count of answers
/// in a window. Where in its work a server is when the window begins moves the count by up to one. If
/// every run begins at the same point, all ratios are off alike, and their interval does not show it.
pub fn count_error(answers: [u64; 2]) -> f64 {
    answers.map(|count| 1.0 + 1.0 / count.max(1) as f64).iter().product()
}

/// The Walsh averages of the ratios' logarithms, as factors, sorted.
fn walsh_averages(ratios: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(ratios.len() * (ratios.len() + 1) / 2);
    for (index, a) in ratios.iter().enumerate() {
        averages.extend(ratios[index..].iter().map(|b| geometric_mean(*a, *b)));
    }
    averages.sort_by(f64::total_cmp);
    averages
}

/// Exact for two equal factors, where the square roots would round.
fn geometric_mean(a: f64, b: f64) -> f64 {
    if a == b { a } else { a.sqrt() * b.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Hamilton depression scale of nine patients before and after treatment, the standard
    /// example of the signed-rank test (Hollander and Wolfe, table 3.1; R's `?wilcox.test`).
    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[expect(clippy::approx_constant, reason = "this 3.14 was measured")]
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    #[test]
    fn the_textbook_example_comes_out_as_printed() {
        let ratios = BEFORE.iter().zip(AFTER).map(|(before, after)| (before - after).exp());
        let found = Speedup::of_pairs(ratios).unwrap();
        // Printed there: an estimate of 0.46 and the 96.1 % interval from 0.010 to 0.786.
        assert!(near(found.estimate.ln(), 0.46), "{found:?}");
        assert!(near(found.low.ln(), 0.010) && near(found.high.ln(), 0.786), "{found:?}");
        assert_eq!(found.confidence, 1.0 - 20.0 / 512.0);
    }

    /// scipy 1.17.1's exact `stats.wilcoxon` of the logarithms, asked at every possible end of the
    /// interval.
    #[test]
    fn another_implementation_finds_the_same() {
        // With a tie: 1.0015 twice.
        let ratios = [
            1.0228, 0.9379, 0.973, 0.9413, 1.0365, 0.9743, 1.0685, 1.0612, 1.0395, 0.9039, 1.0178,
            1.0482, 1.0584, 0.9591, 1.0216, 0.9913, 1.0015, 1.1204, 1.0015, 1.0492,
        ];
        let found = Speedup::of_pairs(ratios).unwrap();
        assert!(near(found.estimate, 1.0115000741473033), "{found:?}");
        assert!(near(found.low, 0.9871471521510864), "{found:?}");
        assert!(near(found.high, 1.0366174029023436), "{found:?}");
        assert!(near(found.confidence, 0.9515590667724609), "{found:?}");
    }

    #[test]
    fn a_family_has_wider_intervals() {
        let ratios = || (0..12).map(|nth| (f64::from(nth) / 100.0).exp());
        let one = Speedup::of_look(ratios(), Look::only(12, 1)).unwrap();
        assert_eq!(Some(one), Speedup::of_pairs(ratios()));
        let of_four = Speedup::of_look(ratios(), Look::only(12, 4)).unwrap();
        assert!(of_four.low < one.low && one.high < of_four.high, "{one:?} {of_four:?}");
        assert!(of_four.is_confident() && of_four.estimate == one.estimate, "{of_four:?}");
    }

    #[test]
    fn few_pairs_get_their_whole_range() {
        let found = Speedup::of_pairs([4.0, 1.0]).unwrap();
        assert_eq!((found.estimate, found.low, found.high), (2.0, 1.0, 4.0));
        assert_eq!((found.confidence, found.inner), (0.5, None));
        let found = Speedup::of_pairs([270.0]).unwrap();
        assert_eq!((found.low, found.high, found.confidence), (270.0, 270.0, 0.0));
        let six = Speedup::of_pairs([1.5, 1.1, 1.2, 1.3, 1.6, 1.4]).unwrap();
        assert_eq!((six.low, six.high, six.confidence), (1.1, 1.6, 0.96875));
    }

    #[test]
    fn equivalence_is_within_the_ninety_per_cent_interval() {
        // Logarithms of 0 to 6 %: the 3rd smallest and 3rd largest of 21 Walsh averages are 1 and 4 %.
        let ratios = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05].map(f64::exp);
        let found = Speedup::of_pairs(ratios).unwrap();
        let [low, high] = found.inner.unwrap();
        assert!(near(low.ln(), 0.01) && near(high.ln(), 0.04), "{found:?}");
        assert_eq!(Speedup::of_pairs([1.01; 5]).unwrap().inner, Some([1.01; 2]));
        assert_eq!(Speedup::of_pairs([1.01; 4]).unwrap().inner, None);
    }

    #[test]
    fn from_twelve_pairs_on_one_stalled_run_moves_neither_estimate_nor_interval_far() {
        let stalled = [1.04, 1.06, 1.05, 0.6, 1.07, 1.05, 1.06, 1.04, 1.05, 1.05, 1.03, 1.06];
        let found = Speedup::of_pairs(stalled).unwrap();
        assert!(found.low > 1.0 && (found.estimate - 1.05).abs() < 0.01, "{found:?}");
        // `n` Walsh averages contain the outlier; only from 12 pairs on are the ends deeper than that.
        let found = Speedup::of_pairs(stalled[..10].iter().copied()).unwrap();
        assert!(found.low < 1.0 && (found.estimate - 1.05).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn few_answers_widen_the_interval_and_leave_the_estimate() {
        // 700 against 1,000 ms: two answers in every window of both sides.
        assert_eq!(count_error([2, 2]), 2.25);
        let found = Speedup::of_pairs([1.0; 6]).unwrap().widened(2.25);
        assert_eq!((found.estimate, found.low, found.high), (1.0, 1.0 / 2.25, 2.25));
        assert_eq!(found.inner, Some([1.0 / 2.25, 2.25]));
        assert!(count_error([10_000, 10_000]) < 1.000_3);
    }

    #[test]
    fn ties_and_ratios_of_one_are_values_like_any_other_factor() {
        let found = Speedup::of_pairs([1.0; 10]).unwrap();
        assert_eq!((found.estimate, found.low, found.high), (1.0, 1.0, 1.0));
        let found = Speedup::of_pairs([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.2]).unwrap();
        assert_eq!((found.estimate, found.low), (1.0, 1.0), "what never moved is no difference");
        // Anything that is no factor is ignored.
        assert_eq!(Speedup::of_pairs([f64::NAN, f64::INFINITY, 0.0, -1.0]), None);
        assert_eq!(Speedup::of_pairs([2.0, f64::NAN]).unwrap().estimate, 2.0);
    }
}

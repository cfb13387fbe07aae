//! After how many pairs one may look at a verdict, and what each look costs.
//!
//! Someone who computes an interval of 95 % again and again until it excludes 1 is wrong far more often than in 5 of 100
//! comparisons. So each look gets a share of the 5 %, and the shares add up to 1: the chance that any of the intervals
//! misses the true factor is at most the sum of their chances. So it doesn't matter when one stops, or why.
//!
//! The first look takes what six pairs need, since six coins fall alike in 2 / 64 of all cases. Each later one takes half
//! of what is left, so there is always a next look. The pairs grow by a third from look to look, because the interval of
//! a few more pairs would hardly be narrower.
//!
//! Source: Lan and DeMets, *Discrete sequential boundaries for clinical trials*, Biometrika 70 (1983), who spend the error
//! on looks, with Bonferroni's inequality in place of the joint distribution, which signed ranks have only
//! conditionally on their sizes. `simulation/looks.rs` compares it with a fixed number of pairs and with bets.

use crate::signed_rank::{NOMINAL, depth};

/// The share of the first look: 2 / 64 of 5 %.
const FIRST: f64 = 0.625;

/// A look at the pairs of a family of candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The number of earlier looks; `None` if this is the only one.
    nth: Option<usize>,
    /// How many candidates are judged together.
    family: usize,
    /// The number of pairs of each candidate.
    pub pairs: usize,
}

impl Look {
    /// The only look, at a number of pairs that was chosen before.
    pub fn only(pairs: usize, family: usize) -> Self {
        Self { nth: None, family, pairs }
    }

    /// The first of several looks, at the fewest pairs that have an interval.
    pub fn first(family: usize) -> Self {
        let look = |pairs| Self { nth: Some(0), family, pairs };
        let has_interval = |look: &Self| {
            let confidence = look.confidence(NOMINAL);
            depth(look.pairs, confidence).confidence >= confidence
        };
        (1..).map(look).find(has_interval).unwrap_or(look(usize::MAX))
    }

    /// The next look, at a third more pairs.
    #[must_use]
    pub fn next(self) -> Self {
        let nth = self.nth.map(|nth| nth + 1);
        Self { nth, pairs: self.pairs + self.pairs.div_ceil(3), ..self }
    }

    /// The last of several looks that so many pairs are enough for. Fewer than the first one needs have no interval of
    /// 95 %.
    pub fn latest(pairs: usize, family: usize) -> Self {
        let first = Self::first(family);
        let looks = std::iter::successors(Some(first), |look| Some(look.next()));
        let latest = looks.take_while(|look| look.pairs <= pairs).last();
        latest.unwrap_or(Self { pairs, ..first })
    }

    /// This look's share of the error that all looks and candidates together may have.
    pub fn share(self) -> f64 {
        let of_look = match self.nth {
            None => 1.0,
            Some(0) => FIRST,
            Some(nth) => (1.0 - FIRST) * 0.5_f64.powi(i32::try_from(nth).unwrap_or(i32::MAX)),
        };
        of_look / self.family.max(1) as f64
    }

    /// The confidence that an interval of this look needs, so that all together have the `nominal` one.
    pub(super) fn confidence(self, nominal: f64) -> f64 {
        1.0 - (1.0 - nominal) * self.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Speedup;

    #[test]
    fn the_shares_of_all_looks_add_up_to_one() {
        for family in [1, 3, 8] {
            let looks = std::iter::successors(Some(Look::first(family)), |look| Some(look.next()));
            let spent: f64 = looks.take(30).map(|look| look.share() * family as f64).sum();
            assert!((0.999_999..=1.0).contains(&spent), "{spent}");
            assert_eq!(Look::only(12, family).share() * family as f64, 1.0);
        }
    }

    #[test]
    fn the_pairs_say_which_look_it_is() {
        let looks = [6, 8, 11, 15, 20, 27, 36, 48];
        let mut look = Look::first(1);
        for pairs in looks {
            assert_eq!(look.pairs, pairs);
            assert_eq!((Look::latest(pairs, 1), Look::latest(pairs + 1, 1)), (look, look));
            look = look.next();
        }
        assert_eq!(Look::latest(5, 1), Look { pairs: 5, ..Look::first(1) });
        assert_eq!([1, 2, 3, 4, 8].map(|family| Look::first(family).pairs), [6, 7, 8, 8, 9]);
    }

    #[test]
    fn every_look_has_an_interval_and_few_pairs_have_none() {
        for family in [1, 2, 8] {
            let looks = std::iter::successors(Some(Look::first(family)), |look| Some(look.next()));
            for look in looks.take(12) {
                let found = Speedup::of_look((0..look.pairs).map(|_| 1.5), look).unwrap();
                assert!(found.is_confident() && found.inner.is_some(), "{look:?} {found:?}");
            }
            let few = Look::latest(Look::first(family).pairs - 1, family);
            let found = Speedup::of_look((0..few.pairs).map(|_| 1.5), few).unwrap();
            assert!(!found.is_confident(), "{few:?} {found:?}");
        }
    }
}

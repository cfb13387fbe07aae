//! Evidence against "these two are equally fast" that may be looked at after every pair.
//!
//! If two servers are equal, the logarithm `y` of their ratio in a pair is as likely to be positive as negative,
//! whatever the noise is: a coin decides which of them runs first. So a bet on its sign is fair. A capital that starts at
//! 1 and is multiplied by `1 + bet * g(y)` in each pair, where `g` is odd and at most 1, then has an expected value of
//! at most 1 at any time. By Ville's inequality it ever reaches `1 / alpha` with a probability of at most `alpha`,
//! however often one looks, and whenever one stops.
//!
//! Source: Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, JRSS B 86 (2024), and
//! Ramdas, Ruf, Larsson and Koolen, *Admissible anytime-valid sequential inference must rely on nonnegative martingales*
//! (2020), section 5 for symmetric distributions. A test of a fixed number of pairs that is repeated after each pair has
//! no such bound: `simulation/` shows how often it errs.

/// A smaller bet wins too little, and a larger one loses nearly all in one bad pair.
const BETS: std::ops::RangeInclusive<f64> = 0.05..=0.95;

/// What is bet in each pair. It has to be known before the pairs are measured that it is used on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bet {
    /// The logarithm of the ratio that one expects if they aren't equal: positive if the second one is faster.
    pub effect: f64,
    /// The part of the capital, from 0 to 1.
    pub share: f64,
}

impl Bet {
    /// The bet that would have won the most in earlier pairs of two that differ (Kelly). `effect` is the logarithm of their
    /// factor.
    pub fn learned(effect: f64, earlier: &[f64]) -> Self {
        let all = Self { effect, share: 1.0 };
        let won = earlier.iter().map(|ln_ratio| all.toward(*ln_ratio));
        let (sum, squares) =
            won.fold((0.0, 0.0), |(sum, squares), won| (sum + won, squares + won * won));
        let share = if squares > 0.0 { sum / squares } else { 0.0 };
        Self { effect, share: share.clamp(*BETS.start(), *BETS.end()) }
    }

    /// How far a ratio is toward the effect: from -1, as far on the other side, to 1.
    pub(super) fn toward(self, ln_ratio: f64) -> f64 {
        let toward = ln_ratio / self.effect;
        if toward.is_nan() { 0.0 } else { toward.clamp(-1.0, 1.0) }
    }
}

/// The logarithm of the capital.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence(f64);

impl Evidence {
    pub fn add(&mut self, ln_ratio: f64, bet: Bet) {
        self.0 += (bet.share * bet.toward(ln_ratio)).ln_1p();
    }

    /// Whether they aren't equal, with an error of at most `alpha`.
    pub fn suffices(self, alpha: f64) -> bool {
        self.0 >= -alpha.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    const BET: Bet = Bet { effect: 0.1, share: 0.9 };

    #[test]
    fn pairs_that_agree_suffice_soon_and_one_that_disagrees_costs_much() {
        let needed = |mut pairs: Vec<f64>| {
            pairs.extend([0.1; 100]);
            let mut evidence = Evidence::default();
            let count = pairs.into_iter().take_while(|pair| {
                let suffices = evidence.suffices(0.01);
                evidence.add(*pair, BET);
                !suffices
            });
            count.count()
        };
        assert_eq!(needed(vec![]), 8, "1.9 ^ 8 is 170");
        assert_eq!(needed(vec![-9.0]), 12, "an outlier counts as one loss");
        assert_eq!(needed(vec![f64::NAN]), 9);
    }

    #[test]
    fn a_bet_is_small_where_earlier_pairs_were_noisy() {
        assert_eq!(Bet::learned(0.1, &[0.1, 0.12, 0.2]).share, 0.95);
        let noisy = Bet::learned(0.1, &[0.3, -0.2, 0.3, -0.1]).share;
        assert_eq!(noisy, 0.05);
        assert_eq!(Bet::learned(-0.1, &[-0.1, -0.05, 0.05, -0.15]).share, 0.8);
        assert_eq!(Bet::learned(0.1, &[]).share, 0.05);
    }

    /// Looked at after each of 200 pairs, with noise that has no mean (Cauchy).
    #[test]
    fn equals_are_called_different_as_rarely_as_promised_however_often_one_looks() {
        let random = &mut SplitMix64(7);
        let mut wrong = 0;
        for _ in 0..4000 {
            let mut evidence = Evidence::default();
            wrong += u32::from((0..200).any(|_| {
                let noise = (std::f64::consts::PI * (random.uniform() - 0.5)).tan();
                evidence.add(0.1 * noise, BET);
                evidence.suffices(0.05)
            }));
        }
        assert!((40..=200).contains(&wrong), "{wrong} of 4000");
    }
}

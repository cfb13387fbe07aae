//! How many times the rate of one server another one holds, from a search on each.

use crate::{RateInterval, Speedup};

/// How often the interval has the true ratio at least, if the speed of the machine stays within some per cent:
/// `simulation/rate_ratios.rs` counts it.
const CONFIDENCE: f64 = 0.95;

/// The rate of the candidate over that of the baseline.
///
/// The rule is the widest one: the lower end is the candidate's lowest rate over the baseline's highest, and the upper
/// end the other way round. So the ratio is in its interval whenever both rates are in theirs, however their errors
/// depend on each other, and no model says how often a run holds near the boundary. It is right more often than
/// either of them, because both have to be wrong in opposite directions to miss it.
///
/// An end that is not known, such as that of a rate that the load generator limits, makes the interval endless: up to
/// infinity, or down to 0. The estimate is then the end that is known, and a bound.
pub fn rate_ratio(baseline: &RateInterval, candidate: &RateInterval) -> Speedup {
    let low = |of: &RateInterval| of.low.unwrap_or(0.0);
    let high = |of: &RateInterval| of.high.filter(|_| !of.is_limited).unwrap_or(f64::INFINITY);
    let [low, high] = [low(candidate) / high(baseline), high(candidate) / low(baseline)];
    let estimate = match (low > 0.0, high.is_finite()) {
        (true, true) => (low * high).sqrt(),
        (true, false) => low,
        (false, true) => high,
        (false, false) => 1.0,
    };
    // Narrower ones for equivalence are not known.
    let inner = Some([low, high]);
    Speedup { estimate, low, high, confidence: CONFIDENCE, inner, count_error: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, judge};

    fn between(low: f64, high: f64) -> RateInterval {
        let [low, high] = [low, high].map(|rate| Some(rate).filter(|rate| rate.is_finite()));
        RateInterval { low, high, runs: [8, 5], is_limited: false }
    }

    #[test]
    fn the_ends_are_those_of_rates_that_are_as_far_apart_as_they_may_be() {
        let found = rate_ratio(&between(100.0, 106.0), &between(212.0, 225.0));
        assert_eq!((found.low, found.high), (2.0, 2.25));
        assert!((found.estimate - 4.5_f64.sqrt()).abs() < 1e-12, "{found:?}");
        let verdict = |found: &Speedup| judge(Some(found), None, 0.1).verdict;
        assert_eq!(verdict(&found), Verdict::Faster);
        let turned = rate_ratio(&between(212.0, 225.0), &between(100.0, 106.0));
        assert_eq!(verdict(&turned), Verdict::Slower);
        let same = rate_ratio(&between(100.0, 104.0), &between(100.0, 104.0));
        assert_eq!(verdict(&same), Verdict::Equivalent);
        let wide = rate_ratio(&between(100.0, 140.0), &between(100.0, 140.0));
        assert_eq!(verdict(&wide), Verdict::Undecided);
    }

    #[test]
    fn a_rate_without_an_end_makes_the_ratio_a_bound() {
        let [one, endless] = [between(100.0, 106.0), between(212.0, f64::INFINITY)];
        let limited = RateInterval { is_limited: true, ..between(212.0, 225.0) };
        for other in [endless, limited] {
            let found = rate_ratio(&one, &other);
            assert_eq!((found.estimate, found.low, found.high), (2.0, 2.0, f64::INFINITY));
            assert_eq!(judge(Some(&found), None, 0.1).verdict, Verdict::Faster);
            let turned = rate_ratio(&other, &one);
            assert_eq!((turned.estimate, turned.low, turned.high), (0.5, 0.0, 0.5));
            assert_eq!(judge(Some(&turned), None, 0.1).verdict, Verdict::Slower);
            let neither = rate_ratio(&other, &other);
            assert_eq!(judge(Some(&neither), None, 0.1).verdict, Verdict::Undecided);
        }
        // It holds at no rate, and the other one does.
        let never = RateInterval { low: None, high: Some(50.0), runs: [0, 2], is_limited: false };
        assert_eq!(judge(Some(&rate_ratio(&never, &one)), None, 0.1).verdict, Verdict::Faster);
        let nothing = rate_ratio(&RateInterval::default(), &one);
        assert_eq!(judge(Some(&nothing), None, 0.1).verdict, Verdict::Undecided);
    }
}

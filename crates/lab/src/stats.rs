//! How a speedup is estimated: from pairs of runs that were neighbours in time.
//!
//! A machine's speed drifts while it works. Two runs that follow each other share most of that
//! drift, so it cancels in their ratio; it does not cancel in a ratio of two averages.

use serde::{Deserialize, Serialize};

/// A factor by which a candidate is better than its baseline: above 1, the candidate wins.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Speedup {
    /// The median over all pairs.
    pub estimate: f64,
    /// The smallest of all pairs.
    pub low: f64,
    /// The largest of all pairs.
    ///
    /// For `n` independent pairs, `low..high` covers the true median with a probability of
    /// `1 - 2 * 0.5^n`: 97 % for 6 pairs, 50 % for 2 (the sign test's interval).
    pub high: f64,
}

impl Speedup {
    /// From one ratio a pair. Without a finite ratio there is no speedup.
    pub fn of_pairs(ratios: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut ratios: Vec<_> = ratios.into_iter().filter(|ratio| ratio.is_finite()).collect();
        ratios.sort_by(f64::total_cmp);
        Some(Self { estimate: median(&ratios)?, low: *ratios.first()?, high: *ratios.last()? })
    }
}

/// The median of sorted values.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0)
}

/// The median of values in any order.
pub fn median_of(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    median(&values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_is_the_median_pair_between_the_smallest_and_the_largest() {
        let odd = Speedup::of_pairs([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.estimate, odd.low, odd.high), (2.0, 1.0, 3.0));
        let even = Speedup::of_pairs([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((even.estimate, even.low, even.high), (2.5, 1.0, 4.0));
    }

    #[test]
    fn ratios_that_are_none_do_not_count() {
        assert_eq!(Speedup::of_pairs([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Speedup::of_pairs([2.0, f64::NAN]).unwrap().estimate, 2.0);
    }
}

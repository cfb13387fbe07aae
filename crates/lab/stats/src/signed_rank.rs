//! How far a confidence interval has to reach, by Wilcoxon's signed-rank test.
//!
//! The test asks whether values are symmetric about a point: it ranks their distances from it and
//! adds up the ranks of those above, `T`. If they are, every rank is above or below with equal
//! chance, so the distribution of `T` for `n` values is known exactly, whatever theirs is.
//!
//! `T` is also the number of Walsh averages (means of two values, or of one with itself) above that
//! point (Tukey). So all points that the test accepts are those from the `k`-th smallest to the
//! `k`-th largest of the `n (n + 1) / 2` Walsh averages, where `k` is the largest number with
//! `2 P(T <= k - 1) <= 1 - nominal`. They cover the true centre with a probability of
//! `1 - 2 P(T <= k - 1)`.
//!
//! Source: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition (2014),
//! sections 3.1 to 3.3. R's `wilcox.test(x, conf.int = TRUE, exact = TRUE)` computes the same.

/// The confidence that an interval is asked to have: 0.95. What it has is a little more, because
/// `T` is a whole number.
pub const NOMINAL: f64 = 0.95;

/// How deep in the sorted Walsh averages an interval's ends lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Depth {
    /// The `k` of the `k`-th smallest and the `k`-th largest, from 1.
    pub k: usize,
    /// The probability, from 0 to 1, that the interval between them covers the true centre.
    pub confidence: f64,
}

/// The narrowest interval of at least [`NOMINAL`] confidence for `n` values.
///
/// Fewer than 6 values have none. They get the widest one that there is, from the smallest to the
/// largest, and its true confidence: `1 - 2 * 0.5^n`.
pub(super) fn depth(n: usize) -> Depth {
    let mut depth = Depth { k: 1, confidence: 0.0 };
    let mut below = 0.0;
    for (t, mass) in distribution(n).into_iter().enumerate() {
        below += mass;
        if t > 0 && 2.0 * below > 1.0 - NOMINAL {
            break;
        }
        // One value: both ends are that value, which covers anything with a probability of 0.
        depth = Depth { k: t + 1, confidence: (1.0 - 2.0 * below).max(0.0) };
    }
    depth
}

/// `P(T = t)` for every `t` from 0 to `n (n + 1) / 2`, by dynamic programming: with equal chance
/// each rank is added to a sum of the ranks before it, or is not.
fn distribution(n: usize) -> Vec<f64> {
    let mut mass = vec![0.0; n * (n + 1) / 2 + 1];
    mass[0] = 1.0;
    let mut largest = 0;
    for rank in 1..=n {
        largest += rank;
        // Downwards, so that each sum is read before this rank changes it.
        for t in (0..=largest).rev() {
            let without = mass[t];
            let with = if t >= rank { mass[t - rank] } else { 0.0 };
            mass[t] = (without + with) / 2.0;
        }
    }
    mass
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 5 % critical values of `T` as statistics books print them (Hollander and Wolfe,
    /// table A.4): `(n, T)`; `T` or less is significant.
    const TABLE: [(usize, usize); 17] = [
        (6, 0),
        (7, 2),
        (8, 3),
        (9, 5),
        (10, 8),
        (11, 10),
        (12, 13),
        (13, 17),
        (14, 21),
        (15, 25),
        (16, 29),
        (17, 34),
        (18, 40),
        (19, 46),
        (20, 52),
        (25, 89),
        (30, 137),
    ];

    #[test]
    fn the_depths_are_those_of_the_printed_table() {
        for (n, critical) in TABLE {
            let depth = depth(n);
            assert_eq!(depth.k, critical + 1, "n = {n}");
            assert!((NOMINAL..0.97).contains(&depth.confidence), "n = {n}: {depth:?}");
        }
    }

    #[test]
    fn the_confidence_is_counted_exactly() {
        // Of the 1,024 ways to choose ranks from 1 to 10, 25 have a sum of at most 8.
        assert_eq!(depth(10), Depth { k: 9, confidence: 1.0 - 50.0 / 1024.0 });
        // 1 of 64: only the empty choice.
        assert_eq!(depth(6), Depth { k: 1, confidence: 1.0 - 2.0 / 64.0 });
    }

    #[test]
    fn few_values_have_their_whole_range_with_what_confidence_it_has() {
        for (n, confidence) in [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
            assert_eq!(depth(n), Depth { k: 1, confidence });
        }
    }

    #[test]
    fn the_distribution_is_whole_and_symmetric() {
        for n in [1, 5, 12, 40] {
            let mass = distribution(n);
            assert!((mass.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(mass.iter().eq(mass.iter().rev()), "n = {n}");
        }
    }
}

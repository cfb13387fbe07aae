//! The width of a confidence interval by Wilcoxon's signed-rank test.
//!
//! The test asks whether values are symmetric about a point. It ranks their distances from the point;
//! `T` is the sum of the ranks of the values above it. For symmetric values, each rank is above or
//! below with equal chance, so the distribution of `T` depends on the number of values `n` alone.
//!
//! `T` is also the number of Walsh averages (means of two values, or of one with itself) above that
//! point (Tukey). So the test accepts the points from the `k`-th smallest to the
//! `k`-th largest of the `n (n + 1) / 2` Walsh averages, where `k` is the largest number with
//! `2 P(T <= k - 1) <= 1 - nominal`. They cover the true centre with a probability of
//! `1 - 2 P(T <= k - 1)`.
//!
//! Source: Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, 3rd edition (2014),
//! sections 3.1 to 3.3. R's `wilcox.test(x, conf.int = TRUE, exact = TRUE)` computes the same.

/// The confidence that a difference needs. The interval's own confidence is a little higher, because
/// `T` is a whole number.
pub const NOMINAL: f64 = 0.95;

/// The confidence of the interval that shows equivalence: two one-sided tests at 5 % each
/// (Schuirmann, *Journal of Pharmacokinetics and Biopharmaceutics* 15, 1987).
pub(super) const EQUIVALENCE: f64 = 0.9;

/// The ends of an interval, as positions in the sorted Walsh averages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Depth {
    /// The ends are the `k`-th smallest and the `k`-th largest, counted from 1.
    pub k: usize,
    /// The probability, from 0 to 1, that the interval between them covers the true centre.
    pub confidence: f64,
}

/// The narrowest interval of at least the `nominal` confidence for `n` values.
///
/// Fewer than 6 values have no 95 % interval, and fewer than 5 no 90 % interval. They get the widest
/// one, from the smallest to the largest, with its true confidence: `1 - 2 * 0.5^n`.
pub(super) fn depth(n: usize, nominal: f64) -> Depth {
    let mut depth = Depth { k: 1, confidence: 0.0 };
    let mut below = 0.0;
    for (t, mass) in distribution(n).into_iter().enumerate() {
        below += mass;
        if t > 0 && 2.0 * below > 1.0 - nominal {
            break;
        }
        // A single value is both ends, and a point has a probability of 0.
        depth = Depth { k: t + 1, confidence: (1.0 - 2.0 * below).max(0.0) };
    }
    depth
}

/// `P(T = t)` for every `t` from 0 to `n (n + 1) / 2`, by dynamic programming: each rank is added to
/// the sum with a chance of one half.
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

    /// Two-sided 5 % critical values of `T`, from this `n` on (Hollander and Wolfe, table A.4): `T` or
    /// less is significant.
    const TABLE: [(usize, &[usize]); 3] =
        [(6, &[0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52]), (25, &[89]), (30, &[137])];
    /// One-sided 5 % critical values of `T`, from an `n` of 5 on.
    const ONE_SIDED: &[usize] = &[0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 30, 35, 41, 47, 53, 60];

    #[test]
    fn the_depths_are_those_of_the_printed_table() {
        for (first, row) in TABLE {
            for (n, critical) in (first..).zip(row) {
                let depth = depth(n, NOMINAL);
                assert_eq!(depth.k, critical + 1, "n = {n}");
                assert!((NOMINAL..0.97).contains(&depth.confidence), "n = {n}: {depth:?}");
            }
        }
        for (n, critical) in (5..).zip(ONE_SIDED) {
            assert_eq!(depth(n, EQUIVALENCE).k, critical + 1, "n = {n}");
        }
    }
}

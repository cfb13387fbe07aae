//! An interval for the ratio of two means whose values come in pairs.

/// The quantile of Student's t for a two-sided interval of 99.7 %, from two degrees of freedom on. For more than 19 it is
/// a bit smaller.
#[rustfmt::skip]
const STUDENT: [f64; 18] = [
    19.207, 9.219, 6.62, 5.507, 4.904, 4.53, 4.277, 4.094, 3.957,
    3.85, 3.764, 3.694, 3.636, 3.586, 3.544, 3.507, 3.475, 3.447,
];

/// The mean of the first values over the mean of the second ones, and the ends of its interval of 99.7 %. The pairs are
/// independent of each other.
///
/// The variance is that of the ratio estimator (Cochran, *Sampling Techniques*, 3rd edition, chapter 6), and the
/// quantile is Student's. `None` for fewer than three pairs, or if the second mean is not positive.
pub fn mean_ratio(pairs: &[[f64; 2]]) -> Option<[f64; 3]> {
    let quantile = STUDENT[pairs.len().checked_sub(3)?.min(STUDENT.len() - 1)];
    let n = pairs.len() as f64;
    let [part, whole] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).sum::<f64>() / n);
    if whole <= 0.0 {
        return None;
    }
    let ratio = part / whole;
    let squares: f64 = pairs.iter().map(|[part, whole]| (part - ratio * whole).powi(2)).sum();
    let reach = quantile * (squares / (n - 1.0) / n).sqrt() / whole;
    Some([ratio, ratio - reach, ratio + reach])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn parts_that_are_always_the_same_share_have_a_narrow_interval() {
        let [ratio, low, high] = mean_ratio(&[[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]]).unwrap();
        assert!([ratio, low, high].iter().all(|it| (it - 0.5).abs() < 1e-9));
        assert_eq!(mean_ratio(&[[1.0, 2.0], [3.0, 6.0]]), None);
        assert_eq!(mean_ratio(&[[1.0, 0.0]; 9]), None);
        // Three that disagree say nothing.
        let [_, low, high] = mean_ratio(&[[0.0, 2.0], [2.0, 2.0], [1.0, 2.0]]).unwrap();
        assert!(low < 0.0 && high > 1.0, "{low} {high}");
    }

    #[test]
    fn the_interval_seldom_misses_the_ratio() {
        let mut random = SplitMix64(5);
        for n in [3, 5, 12, 40] {
            let mut misses = 0;
            for _ in 0..4_000 {
                let mut pair = || {
                    let whole = 1.0 + random.exponential();
                    [whole * (0.3 + 0.6 * random.uniform()), whole]
                };
                let pairs: Vec<_> = (0..n).map(|_| pair()).collect();
                let [_, low, high] = mean_ratio(&pairs).unwrap();
                misses += u32::from(!(low..=high).contains(&0.6));
            }
            // Few pairs that vary as much miss it in 1 % of all cases.
            assert!(misses < 60, "{n}: {misses}");
        }
    }
}

//! An interval for the difference of two shares.

use super::wilson::score_interval;

/// The normal quantile of the interval: 99.7 %, so that of some twenty differences, none is there by chance.
const Z: f64 = 3.0;

/// The interval of `a - b`, each a share of so many independent observations.
///
/// Newcombe's hybrid score interval (*Statistics in Medicine* 17, 1998, method 10) also holds for shares of none and
/// all. A share may be the mean of observations between 0 and 1, which vary less than those that are 0 or 1.
pub fn share_difference(a: (f64, f64), b: (f64, f64)) -> [f64; 2] {
    of_quantile(a, b, Z)
}

fn of_quantile(a: (f64, f64), b: (f64, f64), z: f64) -> [f64; 2] {
    let ends = |(share, n)| (share, score_interval(share, n, z));
    let ((a, [a_low, a_high]), (b, [b_low, b_high])) = (ends(a), ends(b));
    [a - b - (a - a_low).hypot(b_high - b), a - b + (a_high - a).hypot(b - b_low)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intervals_are_the_published_ones() {
        // Newcombe, table II, method 10.
        for (a, of_a, b, of_b, low, high) in [
            (56.0, 70.0, 48.0, 80.0, 0.0524, 0.3339),
            (9.0, 10.0, 3.0, 10.0, 0.1705, 0.8090),
            (6.0, 7.0, 2.0, 7.0, 0.0582, 0.8062),
            (5.0, 56.0, 0.0, 29.0, -0.0381, 0.1926),
            (10.0, 10.0, 0.0, 10.0, 0.6075, 1.0),
        ] {
            let found = of_quantile((a / of_a, of_a), (b / of_b, of_b), 1.959_964);
            let found = found.map(|end| (end * 1e4).round() / 1e4);
            assert_eq!(found, [low, high], "{a} of {of_a}, {b} of {of_b}");
        }
    }

    #[test]
    fn three_observations_show_a_difference_only_if_it_is_almost_a_whole() {
        let low = |a, n, b| share_difference((a, n), (b, 50.0))[0];
        assert!(low(1.0, 3.0, 0.02) > 0.0);
        assert!(low(0.34, 3.0, 0.02) < 0.0 && low(1.0, 3.0, 0.3) < 0.0);
        assert!(low(0.3, 20.0, 0.02) > 0.0 && low(0.02, 1e6, 0.02) < 0.0);
    }
}

//! An interval for a share that was counted.

/// The normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_964;

/// The 95 % interval, from 0 to 1, of the probability of an event that happened `count` times in `n`
/// independent trials. Without trials, anything is possible.
///
/// Wilson's score interval (*Journal of the American Statistical Association* 22, 1927) also holds for
/// few events and for none.
pub fn wilson(count: u64, n: u64) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    score_interval(count as f64 / n as f64, n as f64, Z)
}

/// The interval of a share of `n` observations, more than none, for this normal quantile.
pub fn score_interval(share: f64, n: f64, z: f64) -> [f64; 2] {
    let centre = share + z * z / (2.0 * n);
    let reach = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    [centre - reach, centre + reach].map(|end| (end / (1.0 + z * z / n)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intervals_are_the_published_ones() {
        // Newcombe, *Statistics in Medicine* 17 (1998), table I, method 3.
        for (count, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(count, n).map(|end| (end * 1e4).round() / 1e4);
            assert_eq!(interval, [low, high], "{count} of {n}");
        }
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
    }
}

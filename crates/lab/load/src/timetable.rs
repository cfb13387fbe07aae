//! When the arrivals of an open loop are due.

use std::time::Duration;

use super::{OpenLoop, Spacing};

/// The due times of all arrivals, counted from the start; without an end.
///
/// Evenly spaced arrivals never meet at a server that keeps up, so they hide its queue. Independent
/// users come in bunches: the gaps between them are distributed exponentially.
pub fn timetable(load: OpenLoop) -> impl Iterator<Item = Duration> {
    let mut random = SplitMix64(match load.spacing {
        Spacing::Random { seed } => seed,
        Spacing::Even => 0,
    });
    let mut gaps = 0.0;
    (0_u64..).map(move |index| {
        let gaps = match load.spacing {
            Spacing::Even => index as f64,
            Spacing::Random { .. } => {
                gaps += random.exponential();
                gaps
            }
        };
        // Counted from the start and not from the last arrival, so that rounding does not add up.
        Duration::from_secs_f64(gaps / load.rate_per_s)
    })
}

/// A small generator of good random numbers (Steele, Lea and Flood, 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Exponentially distributed with the mean 1.
    fn exponential(&mut self) -> f64 {
        // Above 0, so that the logarithm is finite, and up to 1.
        let uniform = ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(spacing: Spacing, count: usize) -> Vec<f64> {
        let load = OpenLoop { rate_per_s: 100.0, connections: 1, connections_per_user: 1, spacing };
        timetable(load).take(count).map(|due| due.as_secs_f64()).collect()
    }

    #[test]
    fn a_seed_determines_the_arrivals() {
        let arrivals = |seed| due(Spacing::Random { seed }, 100);
        assert_eq!(arrivals(7), arrivals(7));
        assert_ne!(arrivals(7), arrivals(8));
    }

    /// The share of gaps above `times` the mean is `exp(-times)`.
    #[test]
    fn random_arrivals_are_a_poisson_process() {
        let due = due(Spacing::default(), 100_000);
        assert!((due[due.len() - 1] - 1000.0).abs() < 20.0);
        for times in [0.1, 1.0, 3.0] {
            let gaps = due.windows(2).filter(|pair| pair[1] - pair[0] > times * 0.01).count();
            let share = gaps as f64 / due.len() as f64;
            assert!((share - (-times).exp()).abs() < 0.01, "{times}: {share}");
        }
    }
}

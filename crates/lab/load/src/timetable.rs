//! When the arrivals of an open loop are due.

use std::{iter::successors, time::Duration};

use lab_model::{OpenLoop, Spacing};
use lab_stats::SplitMix64;

/// The due times of all arrivals, counted from the start; without an end.
///
/// Evenly spaced arrivals never meet at a server that keeps up, so they hide its queue. Independent
/// users come in bunches: the gaps between them are distributed exponentially.
pub fn timetable(load: OpenLoop) -> impl Iterator<Item = Duration> {
    let mut random = match load.spacing {
        Spacing::Random { seed } => Some(SplitMix64(seed)),
        Spacing::Even => None,
    };
    let mut gap = move || random.as_mut().map_or(1.0, SplitMix64::exponential);
    // In units of the mean gap, so that rounding does not add up.
    let sums = successors(Some(0.0), move |sum| Some(sum + gap()));
    sums.map(move |gaps| Duration::from_secs_f64(gaps / load.rate_per_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(spacing: Spacing, count: usize) -> Vec<f64> {
        let load = OpenLoop { rate_per_s: 100.0, connections: 1, connections_per_user: 1, spacing };
        timetable(load).take(count).map(|due| due.as_secs_f64()).collect()
    }

    #[test]
    fn evenly_spaced_arrivals_keep_their_distance() {
        assert_eq!(due(Spacing::Even, 3), [0.0, 0.01, 0.02]);
        assert_eq!(due(Spacing::Even, 100_001).last(), Some(&1000.0), "rounding does not add up");
    }

    /// The gaps of a Poisson process: their mean is 1 / rate, and one in e is longer than that.
    #[test]
    fn random_arrivals_are_a_poisson_process() {
        let count = 100_000;
        let [first, again, other] = [1, 1, 2].map(|seed| due(Spacing::Random { seed }, count));
        assert!(first == again && first != other, "a seed determines the arrivals");
        let due = first;
        let mean = due[count - 1] / count as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.02, "{mean}");
        let longer = |times: f64| {
            let gaps = due.windows(2).filter(|pair| pair[1] - pair[0] > times * 0.01);
            gaps.count() as f64 / count as f64
        };
        for times in [0.1, 1.0, 3.0] {
            assert!((longer(times) - (-times).exp()).abs() < 0.01, "{times}: {}", longer(times));
        }
    }
}

//! Threads that slow requests hold, if they come so often that one of them always waits: then a thread more is in
//! some call for each that waits more.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Cause, causes::ServerLooks};

/// The run is cut into so many pieces, which are compared with each other, and at least so many must show something.
const PIECES: usize = 20;
const FEWEST: usize = 10;
/// The quantile of a two-sided interval of 99.7 % for twenty pieces, by Student.
const T: f64 = 3.4;
/// The least part of a thread that a request holds on average.
const LEAST: f64 = 0.5;

/// What threads do that slow requests hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    #[serde(flatten)]
    pub cause: Cause,
    /// How many threads more do it for each slow request that waits, and its interval.
    pub threads: f64,
    pub low: f64,
    pub high: f64,
}

/// What most threads do more, for each request that waits from its first time to its second one.
pub fn held(waits: &[(u64, u64)], looks: &ServerLooks) -> Option<Held> {
    let waiting: Vec<_> = looks.at_us.iter().map(|at| waiting(waits, *at)).collect();
    let counts: BTreeMap<Cause, Vec<f64>> = looks.counts();
    let found = counts.into_iter().filter_map(|(cause, counts)| {
        let [threads, low, high] = slope(&waiting, &counts)?;
        (low >= LEAST).then_some(Held { cause, threads, low, high })
    });
    found.max_by(|a, b| a.low.total_cmp(&b.low))
}

fn waiting(waits: &[(u64, u64)], at: u64) -> f64 {
    waits.iter().filter(|(due, end)| (*due..*end).contains(&at)).count() as f64
}

/// How many `counts` come with each that is `waiting`, from the pieces of the run, with its interval.
fn slope(waiting: &[f64], counts: &[f64]) -> Option<[f64; 3]> {
    let length = waiting.len().div_ceil(PIECES).max(1);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of_piece = |(waiting, counts): (&[f64], &[f64])| {
        let means = [waiting, counts].map(mean);
        let pairs = || waiting.iter().zip(counts).map(|(x, y)| (x - means[0], y - means[1]));
        let varies: f64 = pairs().map(|(x, _)| x * x).sum();
        (varies > 0.0).then(|| pairs().map(|(x, y)| x * y).sum::<f64>() / varies)
    };
    let pieces = waiting.chunks(length).zip(counts.chunks(length));
    let slopes: Vec<_> = pieces.filter_map(of_piece).collect();
    if slopes.len() < FEWEST {
        return None;
    }
    let middle = mean(&slopes);
    let varies: f64 = slopes.iter().map(|slope| (slope - middle).powi(2)).sum();
    let n = slopes.len() as f64;
    let reach = T * (varies / (n - 1.0) / n).sqrt();
    Some([middle, middle - reach, middle + reach])
}

#[cfg(test)]
mod tests {
    use lab_stats::SplitMix64;

    use super::*;

    #[test]
    fn a_thread_for_each_that_waits_is_found_among_others() {
        let mut random = SplitMix64(7);
        let mut up_to = |most: u64| ((most + 1) as f64 * random.uniform()).floor();
        let waiting: Vec<_> = (0..1_000).map(|_| up_to(5)).collect();
        let holds: Vec<_> = waiting.iter().map(|waiting| waiting + up_to(4)).collect();
        let [threads, low, high] = slope(&waiting, &holds).unwrap();
        assert!((threads - 1.0).abs() < 0.1 && low > 0.8 && high < 1.2, "{threads} {low} {high}");
        let others: Vec<_> = waiting.iter().map(|_| up_to(9)).collect();
        let [_, low, high] = slope(&waiting, &others).unwrap();
        assert!(low < 0.0 && high > 0.0, "{low} {high}");
        // Nothing changes.
        assert_eq!(slope(&[3.0; 1_000], &others), None);
        assert_eq!(slope(&[], &[]), None);
    }
}

//! A histogram of latencies.

use std::time::Duration;

use anyhow::Context as _;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::ByPercentile;

/// A histogram of latencies in microseconds, to three significant digits.
///
/// In JSON it is a list of pairs: a latency in microseconds, and how many requests had it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "ValueCounts", into = "ValueCounts")]
pub struct Latency(Histogram<u64>);

/// Latencies in microseconds, each with its number of requests.
type ValueCounts = Vec<(f64, u64)>;

/// The longest latency that can be recorded.
const LONGEST: Duration = Duration::from_secs(3600);

impl Default for Latency {
    fn default() -> Self {
        let longest = LONGEST.as_micros() as u64;
        Self(Histogram::new_with_bounds(1, longest, 3).expect("these bounds are valid"))
    }
}

/// How the tail beyond a percentile is divided, in a lower bound of it: the larger part for latencies, so
/// that the bound is as near as a rare lag allows.
const OF_LAG: f64 = 0.5;

/// How many samples must lie beyond a percentile: with fewer, a single slow request moves it.
const BEYOND: f64 = 10.0;

impl Latency {
    /// Records a latency, or an hour if it is longer.
    // `inline` has it compiled in the generator's crate, which is optimized; this one is not.
    #[inline]
    pub fn record(&mut self, latency: Duration) {
        self.record_n(latency, 1);
    }

    /// Records the latency of several requests, or an hour if it is longer.
    #[inline]
    fn record_n(&mut self, latency: Duration, requests: u64) {
        let micros = latency.min(LONGEST).as_micros() as u64;
        self.0.saturating_record_n(micros.max(1), requests);
    }

    /// Adds another run's latencies.
    pub fn add(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// How many requests this percentile needs, so that ten lie beyond it.
    pub fn enough_for(percent: f64) -> f64 {
        BEYOND * 100.0 / (100.0 - percent)
    }

    /// The latency that `percent` of all requests did not exceed, in milliseconds.
    ///
    /// `None` unless at least ten requests lie beyond it.
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        let beyond = self.count() as f64 * (100.0 - percent) / 100.0;
        // A percentile such as 99.9 is not exact in binary.
        (beyond > BEYOND - 1e-6).then(|| self.quantile_ms(percent)).flatten()
    }

    /// The latency that half of all requests did not exceed, in milliseconds, without an interval.
    ///
    /// `None` unless there are ten requests: a single slow one moves their median by one place only.
    pub fn median_ms(&self) -> Option<f64> {
        (self.count() as f64 >= BEYOND).then(|| self.quantile_ms(50.0)).flatten()
    }

    /// The latency that `percent` of all requests did not exceed, however few there are.
    pub fn quantile_ms(&self, percent: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_percentile(percent) as f64 / 1e3)
    }

    /// The mean in milliseconds: what most dashboards show. `None` without requests.
    pub fn mean_ms(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean() / 1e3)
    }

    /// A lower bound of each percentile of these latencies, in milliseconds, for a generator that was late.
    ///
    /// `self` counts from the moment a request was sent. But the generator also reads an answer late, which
    /// nobody can see. It waits for the same core as when it sends, so that delay is taken to have the
    /// distribution of `lag`, the delay of sending. Of all requests, at least the share `P(self > t) -
    /// P(lag > l)` took the server longer than `t - l`, whichever requests had the lag. With half of a
    /// percentile's tail for the lag, and one and a half for the latency, this share is the tail itself.
    pub fn without_lag(&self, lag: &Self) -> ByPercentile<f64> {
        ByPercentile::of(|at| {
            self.percentile_ms(at.percent())?;
            let tail = 100.0 - at.percent();
            let beyond = |share: f64| 100.0 - share * tail;
            let served = self.quantile_ms(beyond(1.0 + OF_LAG))?;
            let least = served - lag.quantile_ms(beyond(OF_LAG))?;
            (least > 0.0).then_some(least)
        })
    }

    /// The recorded latencies in milliseconds, in ascending order, and how many requests had each.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let buckets = self.0.iter_recorded();
        buckets.map(|bucket| (bucket.value_iterated_to() as f64 / 1e3, bucket.count_at_value()))
    }
}

impl From<Latency> for ValueCounts {
    fn from(latency: Latency) -> Self {
        latency.buckets().map(|(ms, requests)| ((ms * 1e3).round(), requests)).collect()
    }
}

impl TryFrom<ValueCounts> for Latency {
    type Error = anyhow::Error;

    fn try_from(pairs: ValueCounts) -> anyhow::Result<Self> {
        let mut latency = Self::default();
        for (micros, requests) in pairs {
            let duration = Duration::try_from_secs_f64(micros / 1e6);
            latency.record_n(duration.context("a latency is no duration")?, requests);
        }
        Ok(latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Percentile;

    fn of_ms(ms: impl IntoIterator<Item = u64>) -> Latency {
        let mut latency = Latency::default();
        ms.into_iter().for_each(|ms| latency.record(Duration::from_millis(ms)));
        latency
    }

    #[test]
    fn a_histogram_survives_json() {
        let latency = of_ms(1..=100);
        let json = serde_json::to_string(&latency).unwrap();
        let back: Latency = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
        assert!((back.percentile_ms(50.0).unwrap() - 50.0).abs() < 0.1);
        let pairs: Latency = serde_json::from_str("[[1500.4, 2], [40000, 1]]").unwrap();
        assert_eq!((pairs.count(), pairs.quantile_ms(50.0)), (3, Some(1.5)));
        assert!(serde_json::from_str::<Latency>("[[-1, 2]]").is_err());
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        assert_eq!(of_ms([]).percentile_ms(50.0), None);
        assert_eq!(of_ms(1..=19).percentile_ms(50.0), None);
        assert_eq!(of_ms(1..=20).percentile_ms(50.0).unwrap().round(), 10.0);
        for (percent, samples) in [(90.0, 100), (99.0, 1000), (99.9, 10_000)] {
            assert_eq!(of_ms(1..samples).percentile_ms(percent), None);
            assert!(of_ms(1..=samples).percentile_ms(percent).is_some(), "p{percent}");
        }
        assert_eq!(of_ms(1..=10_000).percentile_ms(100.0), None);
    }

    /// Nine in ten requests took 1 ms, one in ten 30 ms; and the generator added up to 5 ms at either end.
    #[test]
    fn what_the_server_caused_is_at_least_the_latency_without_the_largest_lags() {
        let p99 = |served: &Latency, lag: &Latency| {
            let at = Percentile::all().find(|at| at.key() == "p99").unwrap();
            served.without_lag(lag).get(at).copied()
        };
        let served = of_ms((0..2000).map(|n| if n % 10 == 0 { 30 } else { 1 } + n % 6));
        let late = of_ms((0..2000).map(|n| n % 6));
        let bound = p99(&served, &late).unwrap();
        assert!((24.0..=30.0).contains(&bound), "{bound}");
        // A generator that is never late takes nothing away.
        let punctual = of_ms([0; 2000]);
        assert!(p99(&of_ms([30; 2000]), &punctual).unwrap() > 29.9);
        // All of the latency may be lag, and too few requests say nothing.
        assert_eq!(p99(&late, &late), None);
        assert_eq!(p99(&of_ms([30; 999]), &punctual), None);
    }

    #[test]
    fn latencies_beyond_the_bounds_are_recorded_as_an_hour() {
        let latency = of_ms([1, 7_200_000, u64::MAX]);
        assert_eq!(latency.count(), 3);
        let longest = latency.quantile_ms(100.0).unwrap();
        assert!((longest / 3_600_000.0 - 1.0).abs() < 1e-3, "{longest}");
    }
}

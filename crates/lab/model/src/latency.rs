//! A histogram of latencies.

use std::time::Duration;

use anyhow::Context as _;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use serde::{Deserialize, Serialize};

/// A histogram of latencies in microseconds, to three significant digits.
///
/// In JSON it is a list of pairs: a latency in microseconds, and how many requests had it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Latency(Histogram<u64>);

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Form {
    Pairs(Vec<(f64, u64)>),
    /// As older records have it: HDR histogram's V2 format in base64.
    Hdr(String),
}

/// The longest latency that can be recorded.
const LONGEST: Duration = Duration::from_secs(3600);

impl Default for Latency {
    fn default() -> Self {
        let longest = LONGEST.as_micros() as u64;
        Self(Histogram::new_with_bounds(1, longest, 3).expect("these bounds are valid"))
    }
}

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
        // `Histogram::add` fails if the bounds differ, as those of another tool's histogram may.
        for bucket in other.0.iter_recorded() {
            self.0.saturating_record_n(bucket.value_iterated_to(), bucket.count_at_value());
        }
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that `percent` of all requests did not exceed, in milliseconds.
    ///
    /// `None` unless at least ten requests lie beyond it.
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        let beyond = self.count() as f64 * (100.0 - percent) / 100.0;
        // A percentile such as 99.9 is not exact in binary.
        (beyond > BEYOND - 1e-6).then(|| self.quantile_ms(percent)).flatten()
    }

    /// The latency that `percent` of all requests did not exceed, however few there are.
    pub fn quantile_ms(&self, percent: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_percentile(percent) as f64 / 1e3)
    }

    /// The longest latency, in milliseconds.
    pub fn max_ms(&self) -> Option<f64> {
        self.quantile_ms(100.0)
    }

    /// The recorded latencies in milliseconds, in ascending order, and how many requests had each.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let buckets = self.0.iter_recorded();
        buckets.map(|bucket| (bucket.value_iterated_to() as f64 / 1e3, bucket.count_at_value()))
    }
}

impl From<Latency> for Form {
    fn from(latency: Latency) -> Self {
        Self::Pairs(
            latency.buckets().map(|(ms, requests)| ((ms * 1e3).round(), requests)).collect(),
        )
    }
}

impl TryFrom<Form> for Latency {
    type Error = anyhow::Error;

    fn try_from(form: Form) -> anyhow::Result<Self> {
        match form {
            Form::Pairs(pairs) => {
                let mut latency = Self::default();
                for (micros, requests) in pairs {
                    let duration = Duration::try_from_secs_f64(micros / 1e6);
                    latency.record_n(duration.context("a latency is no duration")?, requests);
                }
                Ok(latency)
            }
            Form::Hdr(text) => {
                let bytes = BASE64_STANDARD.decode(text).context("the histogram is not base64")?;
                let histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).ok();
                histogram.context("the histogram is not in HDR's V2 form").map(Self)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_base64_of_older_records_is_read() {
        let text = "\"HISTEwAAADsAAAAAAAAAAwAAAAAAAAABAAAAANaTpAA/8AAAAAAAAOlxAqkBAjUClQ0CCQIbAtEBAkECAwK3AgLLAQI3Aj0CEQIrAgJNAhUCgwECbwI3AqEEAu8CAq8BAlUC\"";
        let latency: Latency = serde_json::from_str(text).unwrap();
        assert_eq!((latency.count(), latency.quantile_ms(50.0)), (25, Some(199.807)));
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

    #[test]
    fn the_maximum_and_the_buckets_cover_every_sample() {
        let latency = of_ms([1, 1, 40]);
        assert!((latency.max_ms().unwrap() - 40.0).abs() < 0.1);
        let buckets: Vec<_> = latency.buckets().map(|(ms, count)| (ms.round(), count)).collect();
        assert_eq!(buckets, [(1.0, 2), (40.0, 1)]);
        assert_eq!(of_ms([]).max_ms(), None);
    }

    #[test]
    fn latencies_beyond_the_bounds_are_recorded_as_an_hour() {
        let mut latency = of_ms([1, 7_200_000, u64::MAX]);
        let mut wide = Histogram::new_with_bounds(1, 1 << 40, 2).unwrap();
        wide.record_n(5_000, 4).unwrap();
        wide.record(1 << 39).unwrap();
        latency.add(&Latency(wide));
        assert_eq!(latency.count(), 8);
        assert_eq!(latency.quantile_ms(50.0).unwrap().round(), 5.0);
        let longest = latency.max_ms().unwrap();
        assert!((longest / 3_600_000.0 - 1.0).abs() < 1e-3, "{longest}");
    }
}

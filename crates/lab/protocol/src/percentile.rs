//! The percentiles of latency. To add one, add a line to [`PERCENTILES`].

use std::{array, collections::BTreeMap};

use lab_stats::Speedup;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Per cent, name in JSON, name in tables, and the metric if a verdict can be about it.
const PERCENTILES: [(f64, &str, &str, Option<&str>); 4] = [
    (50.0, "p50", "p50", Some("latency-p50")),
    (90.0, "p90", "p90", None),
    (99.0, "p99", "p99", Some("latency-p99")),
    (99.9, "p999", "p99.9", Some("latency-p999")),
];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Percentile(usize);

impl Percentile {
    pub const P99: Self = Self(2);

    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..PERCENTILES.len()).map(Self)
    }

    pub fn percent(self) -> f64 {
        PERCENTILES[self.0].0
    }

    /// `p999`
    pub fn key(self) -> &'static str {
        PERCENTILES[self.0].1
    }

    /// `p99.9`
    pub fn name(self) -> &'static str {
        PERCENTILES[self.0].2
    }

    /// `latency-p999`
    pub fn metric(self) -> Option<&'static str> {
        PERCENTILES[self.0].3
    }
}

/// A figure for each percentile. In JSON, each is a field with the percentile's key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByPercentile<T>([Option<T>; PERCENTILES.len()]);

impl<T> Default for ByPercentile<T> {
    fn default() -> Self {
        Self::of(|_| None)
    }
}

impl<T> ByPercentile<T> {
    pub fn of(figure: impl Fn(Percentile) -> Option<T>) -> Self {
        Self(array::from_fn(|at| figure(Percentile(at))))
    }

    pub fn get(&self, percentile: Percentile) -> Option<&T> {
        self.0[percentile.0].as_ref()
    }
}

impl<T: Serialize> Serialize for ByPercentile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            Percentile::all().map(|percentile| (percentile.key(), self.get(percentile))),
        )
    }
}

impl<'de, T: Copy + Deserialize<'de>> Deserialize<'de> for ByPercentile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = BTreeMap::<String, Option<T>>::deserialize(deserializer)?;
        Ok(Self::of(|percentile| fields.get(percentile.key()).copied().flatten()))
    }
}

/// Factors of the percentiles that are metrics; in JSON, fields such as `latency_p999`.
pub mod factors {
    use super::*;

    type Factors = ByPercentile<Speedup>;

    pub fn serialize<S: Serializer>(factors: &Factors, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = Percentile::all()
            .filter_map(|percentile| Some((field(percentile)?, factors.get(percentile))));
        serializer.collect_map(fields)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Factors, D::Error> {
        let fields = BTreeMap::<String, Option<Speedup>>::deserialize(deserializer)?;
        Ok(Factors::of(|percentile| fields.get(&field(percentile)?).copied().flatten()))
    }

    fn field(percentile: Percentile) -> Option<String> {
        Some(percentile.metric()?.replace('-', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Speedups};

    #[test]
    fn metrics_and_factors_survive_json() {
        assert_eq!(Percentile::P99.key(), "p99");
        for metric in Metric::all() {
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric, "{json}");
        }
        let factor = Speedup::of_pairs([2.0; 6]);
        let latency = ByPercentile::of(|percentile| factor.filter(|_| percentile.key() == "p999"));
        let speedups =
            Speedups { throughput: factor, latency_at_least: true, latency, ..Speedups::default() };
        let json = serde_json::to_string(&speedups).unwrap();
        assert!(json.contains(r#""latency_p99":null,"latency_p999":{"#), "{json}");
        let back: Speedups = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }
}

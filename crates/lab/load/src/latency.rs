//! A histogram of latencies.

use std::time::Duration;

use anyhow::Context as _;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer as _, V2Serializer},
};
use serde::{Deserialize, Serialize};

/// A histogram of latencies in microseconds, to three significant digits.
///
/// In JSON it is HDR histogram's V2 format in base64, which other tools can read.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Latency(Histogram<u64>);

/// The longest latency that can be recorded.
const LONGEST: Duration = Duration::from_secs(3600);

impl Default for Latency {
    fn default() -> Self {
        let longest = LONGEST.as_micros() as u64;
        Self(Histogram::new_with_bounds(1, longest, 3).expect("these bounds are valid"))
    }
}

impl Latency {
    /// # Panics
    ///
    /// If it is longer than an hour. No run is.
    pub fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(1);
        self.0.record(micros).expect("no run lasts an hour");
    }

    /// Adds another run's latencies.
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all latencies have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that `percent` of all requests did not exceed, in milliseconds.
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_percentile(percent) as f64 / 1e3)
    }
}

impl From<Latency> for String {
    fn from(latency: Latency) -> Self {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&latency.0, &mut bytes)
            .expect("writing to a vector cannot fail");
        BASE64_STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Latency {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        let bytes = BASE64_STANDARD.decode(text).context("the histogram is not base64")?;
        let histogram = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .ok()
            .context("the histogram is not in HDR's V2 form")?;
        Ok(Self(histogram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_survives_json() {
        let mut latency = Latency::default();
        for ms in 1..=100 {
            latency.record(Duration::from_millis(ms));
        }
        let json = serde_json::to_string(&latency).unwrap();
        let back: Latency = serde_json::from_str(&json).unwrap();
        assert_eq!(back.percentile_ms(50.0), latency.percentile_ms(50.0));
        assert!((latency.percentile_ms(50.0).unwrap() - 50.0).abs() < 0.1);
    }
}

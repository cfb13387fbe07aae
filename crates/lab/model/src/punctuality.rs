//! Whether an open loop kept its schedule. If it did not, part of its latencies is its own delay.

use serde::{Deserialize, Serialize};

use super::Latency;

/// The highest acceptable lag as a share of the latency that it is part of.
const LAG_SHARE: f64 = 0.25;
/// Lag that is always acceptable, in milliseconds: the resolution of Tokio's timer, which keeps the
/// schedule where the system has no better one.
const LAG_FLOOR_MS: f64 = 2.0;

/// How an open loop kept its schedule during the measurement.
///
/// Lag is the generator's own delay: from the moment an arrival was due until its request was sent
/// or, if all connections were busy, until it was in the arrival queue. Time in the queue is not
/// lag; the server causes it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Punctuality {
    /// The lag that 99 % of all arrivals did not exceed, in milliseconds.
    pub lag_p99_ms: f64,
    /// Arrivals that found all connections busy.
    pub queued: u64,
}

impl Punctuality {
    /// Why the latencies of this run say more about the generator than about the server, if they
    /// do: the p99 of the lag is above `LAG_FLOOR_MS` and above `LAG_SHARE` of the p99 latency.
    pub fn fault(&self, latency: &Latency) -> Option<String> {
        let lag = self.lag_p99_ms;
        let latency = latency.quantile_ms(99.0)?;
        (lag > LAG_FLOOR_MS && lag > LAG_SHARE * latency).then(|| {
            format!("of the p99 of {latency:.1} ms, {lag:.1} ms are the generator's own lag")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The fault of a run with this lag and latency, in milliseconds.
    fn fault(lag: u64, latency: u64) -> Option<String> {
        let mut latencies = Latency::default();
        latencies.record(Duration::from_millis(latency));
        Punctuality { lag_p99_ms: lag as f64, queued: 0 }.fault(&latencies)
    }

    #[test]
    fn too_much_lag_invalidates_a_run() {
        assert_eq!(fault(5, 21), None, "less than a quarter");
        assert!(fault(5, 19).unwrap().contains("5.0 ms are the generator's own lag"));
        assert_eq!(fault(1, 1), None, "always acceptable");
    }
}

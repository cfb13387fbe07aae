//! Whether an open loop kept its own schedule: where it did not, its latencies are partly its own.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Latency;

/// Lag that is too much in any case: a tenth of the 100 ms that people notice.
pub const LAG_LIMIT: Duration = Duration::from_millis(10);
/// Lag that is too much as a share of the latency that it is part of.
pub const LAG_SHARE: f64 = 0.25;
/// Lag up to which the share does not matter. Tokio's timer, which the schedule is kept with where
/// there is no better one, is as coarse as this.
pub const LAG_FLOOR: Duration = Duration::from_millis(2);

/// How an open loop kept its schedule within the measurement.
///
/// Lag is how late the generator itself was: from the moment an arrival was due until its request
/// was sent, or, where all connections were busy, until it stood in line. The time in line is not
/// lag, it is the server's.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Punctuality {
    /// Half of all arrivals were sent within so many milliseconds.
    pub lag_p50_ms: f64,
    /// 99 % of all arrivals were sent within so many milliseconds.
    pub lag_p99_ms: f64,
    /// All arrivals were sent within so many milliseconds.
    pub lag_max_ms: f64,
    /// Arrivals that found all connections busy.
    pub queued: u64,
    /// The most arrivals that stood in line at a time.
    pub longest_queue: usize,
}

/// The lags of single arrivals.
#[derive(Debug, Default)]
pub struct Lags {
    lag: Latency,
    queued: u64,
    longest_queue: usize,
}

impl Lags {
    /// An arrival was sent so late.
    pub fn record(&mut self, lag: Duration) {
        self.lag.record(lag);
    }

    /// An arrival stood in line so late, as the last of so many.
    pub fn queued(&mut self, lag: Duration, queue: usize) {
        self.lag.record(lag);
        self.queued += 1;
        self.longest_queue = self.longest_queue.max(queue);
    }

    /// All of them in figures.
    pub fn sum_up(&self) -> Punctuality {
        let lag = |percent| self.lag.percentile_ms(percent).unwrap_or_default();
        Punctuality {
            lag_p50_ms: lag(50.0),
            lag_p99_ms: lag(99.0),
            lag_max_ms: lag(100.0),
            queued: self.queued,
            longest_queue: self.longest_queue,
        }
    }
}

impl Punctuality {
    /// Why the latencies of this run say more of the generator than of the server, if they do.
    ///
    /// They do when the p99 of the lag is above [`LAG_LIMIT`], or above [`LAG_SHARE`] of the p99 of
    /// the latency and above [`LAG_FLOOR`].
    pub fn fault(&self, latency: &Latency) -> Option<String> {
        let in_ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let lag = self.lag_p99_ms;
        if lag > in_ms(LAG_LIMIT) {
            let limit = in_ms(LAG_LIMIT);
            return Some(format!(
                "the generator sent 1 % of the arrivals {lag:.1} ms late or more (limit {limit} ms)"
            ));
        }
        let latency = latency.percentile_ms(99.0)?;
        (lag > in_ms(LAG_FLOOR) && lag > LAG_SHARE * latency).then(|| {
            format!("of the p99 of {latency:.1} ms, {lag:.1} ms are the generator's own lag")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fault of a run where every arrival had this lag and this latency, in milliseconds.
    fn fault(lag: u64, latency: u64) -> Option<String> {
        let (mut lags, mut latencies) = (Lags::default(), Latency::default());
        lags.record(Duration::from_millis(lag));
        latencies.record(Duration::from_millis(latency));
        lags.sum_up().fault(&latencies)
    }

    #[test]
    fn too_much_lag_is_told_from_little() {
        assert_eq!(fault(9, 100), None, "below the limit");
        assert!(fault(11, 100_000).unwrap().contains("11.0 ms late or more (limit 10 ms)"));
        assert_eq!(fault(5, 21), None, "less than a quarter");
        assert!(fault(5, 19).unwrap().contains("5.0 ms are the generator's own lag"));
        assert_eq!(fault(1, 1), None, "little in any case");
    }
}

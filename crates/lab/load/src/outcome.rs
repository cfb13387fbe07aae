//! What one load run measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Latency, LoadPlan, Punctuality, meter::Reading};

/// The share of its core from which on the generator counts as saturated. It has one thread, so 1 is
/// the maximum, and short waits keep it below that.
const GENERATOR_SATURATED: f64 = 0.9;

/// What one run measured. A visit counts as one request, even if it consists of several.
///
/// Every request is accounted for: `ok + wrong + failed + unfinished == sent`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Outcome {
    /// The actual duration of the measurement.
    pub measured: Duration,
    /// Right answers that arrived within the measurement; throughput counts these.
    pub ok_in_time: u64,
    /// Closed loop: requests in flight when the measurement began, or sent during it.
    /// Open loop: arrivals that were due during it.
    pub sent: u64,
    /// Right answers, including those during grace.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Requests without a complete answer.
    pub failed: u64,
    /// Requests still in flight, or in the arrival queue, when grace was over.
    pub unfinished: u64,
    /// The first fault, in words.
    pub first_fault: Option<String>,
    /// The latencies of right answers, and the ages of unfinished requests.
    pub latency: Latency,
    /// The age of the youngest unfinished request; percentiles above it are lower bounds.
    pub youngest_unfinished: Option<Duration>,
    /// CPU time of the server during the measurement; absent if the system does not report it.
    pub server_cpu: Option<Duration>,
    /// The server's peak memory, in MiB; absent if the system does not report it.
    pub server_peak_rss_mib: Option<f64>,
    /// CPU time of the generator during the measurement; absent if the system does not report it.
    pub generator_cpu: Option<Duration>,
    /// How the generator kept its schedule; absent in a closed loop, which has none.
    #[serde(default)]
    pub punctuality: Option<Punctuality>,
    /// Why the latencies must not be quoted, if so: the generator itself was late.
    #[serde(default)]
    pub invalid: Option<String>,
}

impl Outcome {
    /// Adds what the system reports about the run to its counts.
    pub(super) fn with(self, plan: &LoadPlan, reading: Reading) -> Self {
        Self {
            measured: reading.measured,
            server_cpu: reading.server_cpu,
            server_peak_rss_mib: crate::process::peak_rss_mib(plan.server_pid),
            generator_cpu: reading.generator_cpu,
            ..self
        }
    }

    /// Right answers per second.
    pub fn throughput(&self) -> f64 {
        self.ok_in_time as f64 / self.measured.as_secs_f64()
    }

    /// CPU time of the server per right answer, in microseconds.
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        (self.ok_in_time > 0)
            .then_some(self.server_cpu?.as_secs_f64() * 1e6 / self.ok_in_time as f64)
    }

    /// The share of one core that the generator used, from 0 to 1.
    pub fn generator_share(&self) -> Option<f64> {
        Some(self.generator_cpu?.as_secs_f64() / self.measured.as_secs_f64())
    }

    /// Why this run measured the generator's limit rather than the server's, if so: the generator
    /// was saturated, or it was late (see [`Punctuality::fault`]).
    pub fn limited_by_generator(&self) -> Option<String> {
        if let Some(share) = self.generator_share()
            && share >= GENERATOR_SATURATED
        {
            return Some(format!(
                "the generator used {:.0} % of its one core; the server may be faster than this",
                share * 100.0
            ));
        }
        self.invalid.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(generator_cpu: Duration, invalid: Option<&str>) -> Outcome {
        Outcome {
            measured: Duration::from_secs(2),
            generator_cpu: Some(generator_cpu),
            invalid: invalid.map(str::to_owned),
            ..Outcome::default()
        }
    }

    #[test]
    fn a_run_limited_by_the_generator_says_so() {
        let half = Duration::from_secs(1);
        assert_eq!(outcome(half, None).limited_by_generator(), None);
        assert_eq!(outcome(half, Some("late")).limited_by_generator().unwrap(), "late");
        let nearly_all = Duration::from_millis(1800);
        let limit = outcome(nearly_all, None).limited_by_generator().unwrap();
        assert!(limit.starts_with("the generator used 90 % of its one core"), "{limit}");
    }
}

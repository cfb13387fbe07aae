//! What the generator found.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Latency, Plan, Punctuality, meter::Reading, tally::Counts};

/// The share of its one core from which on the generator is taken for the bottleneck: it has one
/// thread, so it cannot use more than 1, and little waits of its own keep it from that.
pub const GENERATOR_SATURATED: f64 = 0.9;

/// All that one run measured. A page of several requests counts as one request.
///
/// Every request is accounted for: `ok + wrong + failed + unfinished == sent`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Outcome {
    /// How long the measurement really was.
    pub measured: Duration,
    /// Right answers that arrived within the measurement: what throughput counts.
    pub ok_in_time: u64,
    /// Closed loop: requests that were under way when the measurement began, or were sent in it.
    /// Open loop: arrivals that were due in it.
    pub sent: u64,
    /// Right answers, those in the time of grace included.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Requests that no answer came to.
    pub failed: u64,
    /// Requests that still waited for their answer when the time of grace was over.
    pub unfinished: u64,
    /// The first fault, in words.
    pub first_fault: Option<String>,
    /// The latencies of right answers, and the ages of unfinished requests.
    pub latency: Latency,
    /// The age of the youngest unfinished request; percentiles above it are lower bounds.
    pub youngest_unfinished: Option<Duration>,
    /// CPU time of the server in the measurement; absent where the system does not tell.
    pub server_cpu: Option<Duration>,
    /// The most memory that the server ever held, in MiB; absent where the system does not tell.
    pub server_peak_rss_mib: Option<f64>,
    /// CPU time of the generator in the measurement; absent where the system does not tell.
    pub generator_cpu: Option<Duration>,
    /// How long the generator was ready to run within the measurement and had no core; absent
    /// where the system does not tell.
    #[serde(default)]
    pub generator_waited: Option<Duration>,
    /// How the generator kept its schedule; absent in a closed loop, which has none.
    #[serde(default)]
    pub punctuality: Option<Punctuality>,
    /// Why the latencies must not be quoted, if they must not: the generator was late itself.
    #[serde(default)]
    pub invalid: Option<String>,
}

impl Outcome {
    /// Sums up a run.
    pub(super) fn new(
        plan: &Plan,
        counts: Counts,
        unfinished: u64,
        youngest_unfinished: Option<Duration>,
        reading: Reading,
    ) -> Self {
        Self {
            measured: reading.measured,
            ok_in_time: counts.ok_in_time,
            sent: counts.sent,
            ok: counts.ok,
            wrong: counts.wrong,
            failed: counts.failed,
            unfinished,
            first_fault: counts.first_fault,
            latency: counts.latency,
            youngest_unfinished,
            server_cpu: reading.server_cpu,
            server_peak_rss_mib: crate::process::peak_rss_mib(plan.server_pid),
            generator_cpu: reading.generator_cpu,
            generator_waited: reading.generator_waited,
            punctuality: None,
            invalid: None,
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

    /// The share of the measurement in which the generator had something to do and no core to do
    /// it on, from 0 to 1: others on the machine were in its way.
    pub fn generator_crowded(&self) -> Option<f64> {
        Some(self.generator_waited?.as_secs_f64() / self.measured.as_secs_f64())
    }

    /// Why this run shows the limits of the generator rather than the server's, if it does: the
    /// generator used its core to the full ([`GENERATOR_SATURATED`]), or was late by itself (see
    /// [`Punctuality::fault`]).
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
        let measured = Duration::from_secs(2);
        Outcome {
            measured,
            ok_in_time: 0,
            sent: 0,
            ok: 0,
            wrong: 0,
            failed: 0,
            unfinished: 0,
            first_fault: None,
            latency: Latency::default(),
            youngest_unfinished: None,
            server_cpu: None,
            server_peak_rss_mib: None,
            generator_cpu: Some(generator_cpu),
            generator_waited: None,
            punctuality: None,
            invalid: invalid.map(str::to_owned),
        }
    }

    #[test]
    fn a_run_that_the_generator_limited_says_so() {
        let half = Duration::from_secs(1);
        assert_eq!(outcome(half, None).limited_by_generator(), None);
        assert_eq!(outcome(half, Some("late")).limited_by_generator().unwrap(), "late");
        let nearly_all = Duration::from_millis(1800);
        let limit = outcome(nearly_all, None).limited_by_generator().unwrap();
        assert!(limit.starts_with("the generator used 90 % of its one core"), "{limit}");
    }
}

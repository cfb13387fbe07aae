//! The outcome of one load run.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{ByPercentile, Invalid, Latency, Limit, RequestTime, Unanswered, Visits, seconds};

/// The share of the measurement from which on the generator counts as saturated: busy, or waiting for
/// a core. It has one thread, so 1 is the maximum, and short pauses keep it below that.
const SATURATED: f64 = 0.9;

/// The measurement of one run. A visit counts as one request, even if it consists of several.
///
/// Every request is accounted for: `ok + wrong + failed + unfinished == sent`. An engine prints it as
/// JSON, and may leave out what has a default; `docs/src/engines.md` says what that means.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Outcome {
    /// The actual duration of the measurement.
    #[serde(rename = "measured_s", with = "seconds")]
    pub measured: Duration,
    /// When a condition of the plan's `stop_when` ended the measurement, from its begin; absent if it ran
    /// to its end.
    #[serde(
        default,
        rename = "stopped_s",
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub stopped: Option<Duration>,
    /// Right answers that arrived within the measurement; throughput counts these.
    pub ok_in_time: u64,
    /// Requests of the background that were due within the measurement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub background_sent: u64,
    /// The latencies of the background's requests, from when each was due.
    #[serde(default, rename = "background_latency_us", skip_serializing_if = "Latency::is_empty")]
    pub background_latency: Latency,
    /// Right answers to the background's requests within the measurement. They are no part of throughput.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub background_in_time: u64,
    /// `ok_in_time` in each fifth of a closed loop's measurement: a server that is not warm yet answers more
    /// in the last one than in the first. Empty if the engine does not count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fifths: Vec<u64>,
    /// Closed loop: requests in flight when the measurement began, or sent during it.
    /// Open loop: arrivals that were due during it.
    pub sent: u64,
    /// Right answers, including those during grace.
    pub ok: u64,
    #[serde(default)]
    pub wrong: u64,
    /// Requests without a complete answer.
    #[serde(default)]
    pub failed: u64,
    /// Requests still in flight, or in the arrival queue, when grace was over.
    #[serde(default)]
    pub unfinished: u64,
    /// Requests without an answer although the server had the time for it. Unfinished ones, and in an
    /// open loop also arrivals of the warm-up that never ended.
    #[serde(default)]
    pub lost: u64,
    /// The unfinished requests, for engines that don't report `lost`; [`Unanswered::lost`] has the rule.
    #[serde(default, skip_serializing)]
    pub unanswered: Option<Unanswered>,
    /// Connections that had to be opened again, because the server had closed them after an answer.
    #[serde(default)]
    pub reopened: u64,
    /// The part of `reopened` that the generator closed itself, because bytes followed a complete answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surplus: u64,
    /// Requests that were sent again, because the server closed their connection instead of answering, or refused
    /// their streams. Each is one of `sent`, and its latency counts from the first time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// The first fault, in words.
    pub first_fault: Option<String>,
    /// The result of each visit, if the plan has several kinds of visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<Visits>,
    /// Each request of a visit, in their order; empty if a visit has only one, or if the engine does not time them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestTime>,
    /// The latencies of right answers, and the ages of unfinished requests; empty if the engine keeps none.
    #[serde(default, rename = "latency_us")]
    pub latency: Latency,
    /// The age of the youngest unfinished request; percentiles above it are lower bounds.
    #[serde(default, rename = "youngest_unfinished_s", with = "seconds::option")]
    pub youngest_unfinished: Option<Duration>,
    /// CPU time of the server during the measurement; absent if the system does not report it, or
    /// not exactly.
    #[serde(default, rename = "server_cpu_s", with = "seconds::option")]
    pub server_cpu: Option<Duration>,
    /// The server's peak memory, in MiB; absent if the system does not report it.
    pub server_peak_rss_mib: Option<f64>,
    /// Its memory when the measurement began and after each fifth of it, in MiB; empty if the system does not report
    /// it, or the engine does not ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_rss_mib: Vec<f64>,
    /// CPU time of the generator, or of the busiest process or thread of another engine, during the
    /// measurement; absent if the system does not report it.
    #[serde(default, rename = "generator_cpu_s", with = "seconds::option")]
    pub generator_cpu: Option<Duration>,
    /// How long the generator was ready during the measurement and waited for a core; absent if the
    /// system does not report it.
    #[serde(default, rename = "generator_waited_s", with = "seconds::option")]
    pub generator_waited: Option<Duration>,
    /// How long the generator stood still during the measurement: it was stopped, and neither ran nor waited for
    /// a core; absent if the system does not report it.
    #[serde(
        default,
        rename = "generator_stood_s",
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub generator_stood: Option<Duration>,
    /// How the generator kept its schedule; absent in a closed loop, which has none.
    pub punctuality: Option<Punctuality>,
    /// Why the latencies must not be quoted, if so: the generator itself was late.
    pub invalid: Option<Invalid>,
    /// Nanoseconds of an iteration, if the run is one of a benchmark and not of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    /// The load generator, if it is not our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineInfo>,
}

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
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Punctuality {
    /// The lag that 99 % of all arrivals did not exceed, in milliseconds.
    pub lag_p99_ms: f64,
    /// Arrivals that found all connections busy.
    pub queued: u64,
    /// A lower bound of the part of each percentile that the server alone caused, in milliseconds: see
    /// [`Latency::without_lag`]. Empty if the engine does not report it.
    #[serde(default)]
    pub at_least_ms: ByPercentile<f64>,
}

impl Punctuality {
    /// Why the latencies of this run say more about the generator than about the server, if they
    /// do: the p99 of the lag is above `LAG_FLOOR_MS` and above `LAG_SHARE` of the p99 latency.
    pub fn fault(&self, latency: &Latency) -> Option<Invalid> {
        let lag_ms = self.lag_p99_ms;
        let p99_ms = latency.quantile_ms(99.0)?;
        (lag_ms > LAG_FLOOR_MS && lag_ms > LAG_SHARE * p99_ms)
            .then_some(Invalid::GeneratorLate { p99_ms, lag_ms })
    }
}

/// A load generator other than our own.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct EngineInfo {
    pub name: String,
    #[serde(default)]
    pub version: String,
    /// Processes that make load below a master; `None` for a single process without one.
    pub workers: Option<u16>,
    /// Sentences on what the engine's figures leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl EngineInfo {
    /// An engine that reports only its name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), version: String::new(), workers: None, notes: Vec::new() }
    }
}

impl fmt::Display for EngineInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", [&*self.name, &*self.version].join(" ").trim_end())?;
        match self.workers {
            None => Ok(()),
            Some(1) => write!(f, " with 1 worker"),
            Some(workers) => write!(f, " with {workers} workers"),
        }
    }
}

pub fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Outcome {
    /// Right answers per second.
    pub fn throughput(&self) -> f64 {
        self.ok_in_time as f64 / self.measured.as_secs_f64()
    }

    /// Whether it measured nothing: no right answer in time, and no benchmark.
    pub fn is_empty(&self) -> bool {
        self.ok_in_time == 0 && self.time_ns.is_none()
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

    /// The share of the measurement in which the generator waited for a core, from 0 to 1.
    pub fn generator_waited_share(&self) -> Option<f64> {
        Some(self.generator_waited?.as_secs_f64() / self.measured.as_secs_f64())
    }

    /// The share of the measurement in which the generator stood still, from 0 to 1.
    pub fn generator_stood_share(&self) -> Option<f64> {
        Some(self.generator_stood?.as_secs_f64() / self.measured.as_secs_f64())
    }

    /// Why this run measured the generator's limit rather than the server's, if so: the generator had no time
    /// left, or it was late (see [`Punctuality::fault`]).
    pub fn limited_by_generator(&self) -> Option<Limit> {
        let busy = self.generator_share().unwrap_or_default();
        let waited = self.generator_waited_share().unwrap_or_default();
        if busy + waited < SATURATED {
            return self.invalid.clone().map(Limit::Invalid);
        }
        Some(match self.engine.as_ref().map(|engine| engine.name.clone()) {
            Some(engine) => Limit::EngineSaturated { engine, busy, waited },
            None => Limit::GeneratorSaturated { busy, waited },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outcome of a run of 100 seconds.
    fn outcome(cpu: u64, waited: Option<u64>, invalid: Option<&str>) -> Outcome {
        Outcome {
            measured: Duration::from_secs(100),
            generator_cpu: Some(Duration::from_secs(cpu)),
            generator_waited: waited.map(Duration::from_secs),
            invalid: invalid.map(|sentence| Invalid::Sentence(sentence.to_owned())),
            ..Outcome::default()
        }
    }

    #[test]
    fn a_run_limited_by_the_generator_says_so() {
        let late = Some(Limit::Invalid(Invalid::Sentence("late".to_owned())));
        let saturated = |busy, waited| Some(Limit::GeneratorSaturated { busy, waited });
        assert_eq!(outcome(50, None, None).limited_by_generator(), None);
        assert_eq!(outcome(50, None, Some("late")).limited_by_generator(), late);
        assert_eq!(outcome(40, Some(49), None).limited_by_generator(), None);
        assert_eq!(outcome(89, Some(1), None).limited_by_generator(), saturated(0.89, 0.01));
        assert_eq!(
            outcome(40, Some(55), Some("late")).limited_by_generator(),
            saturated(0.4, 0.55)
        );
    }

    #[test]
    fn what_another_program_says_of_itself_stays_a_sentence() {
        for (invalid, kind) in [
            (
                r#"{"code": "generator-late", "p99_ms": 6.5, "lag_ms": 2.5}"#,
                Invalid::GeneratorLate { p99_ms: 6.5, lag_ms: 2.5 },
            ),
            (r#""a worker left""#, Invalid::Sentence("a worker left".to_owned())),
        ] {
            let json = format!(
                r#"{{"measured_s": 2, "sent": 2, "ok": 2, "ok_in_time": 2, "invalid": {invalid}}}"#
            );
            assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap().invalid, Some(kind));
        }
    }

    /// The fault of a run with this lag and latency, in milliseconds.
    fn fault(lag: u64, latency: u64) -> Option<Invalid> {
        let mut latencies = Latency::default();
        latencies.record(Duration::from_millis(latency));
        Punctuality { lag_p99_ms: lag as f64, ..Punctuality::default() }.fault(&latencies)
    }

    #[test]
    fn too_much_lag_invalidates_a_run() {
        assert_eq!(fault(5, 21), None, "less than a quarter");
        assert!(matches!(fault(5, 19), Some(Invalid::GeneratorLate { lag_ms: 5.0, .. })));
        assert_eq!(fault(1, 1), None, "always acceptable");
    }
}

//! Reads the clock and the CPU times at both ends of a measurement.

use std::time::Duration;

use lab_model::Outcome;
use tokio::time::Instant;

use lab_system::process::{CpuTime, own_cpu_time, own_wait, peak_rss_mib};

use super::heartbeat::Heartbeat;

#[derive(Debug)]
pub struct Meter {
    start: Instant,
    server_pid: Option<u32>,
    server_cpu: Option<CpuTime>,
    generator_cpu: Option<Duration>,
    generator_waited: Option<Duration>,
    heartbeat: Option<Heartbeat>,
}

impl Meter {
    pub fn start(server_pid: Option<u32>) -> Self {
        let server_cpu = server_pid.and_then(CpuTime::of);
        let (generator_cpu, generator_waited) = (own_cpu_time(), own_wait());
        let heartbeat = Heartbeat::start();
        let start = Instant::now();
        Self { start, server_pid, server_cpu, generator_cpu, generator_waited, heartbeat }
    }

    /// Ends the measurement, and adds what the system reports about it.
    pub fn stop(self, outcome: &mut Outcome) {
        outcome.measured = self.start.elapsed();
        let since = |before: Option<Duration>, now: Option<Duration>| now?.checked_sub(before?);
        outcome.generator_cpu = since(self.generator_cpu, own_cpu_time());
        outcome.generator_waited = since(self.generator_waited, own_wait());
        outcome.generator_stood = self.heartbeat.as_ref().map(Heartbeat::stood);
        outcome.server_cpu = self
            .server_pid
            .and_then(CpuTime::of)
            .zip(self.server_cpu)
            .and_then(|(now, then)| now.since(&then));
        outcome.server_peak_rss_mib = self.server_pid.and_then(peak_rss_mib);
    }
}

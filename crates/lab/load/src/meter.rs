//! Reads the clock and the CPU times at both ends of a measurement.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::{CpuTime, own_cpu_time, own_wait};

#[derive(Debug)]
pub struct Meter {
    start: Instant,
    server_pid: u32,
    server_cpu: Option<CpuTime>,
    generator_cpu: Option<Duration>,
    generator_waited: Option<Duration>,
}

/// The differences between two readings.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub measured: Duration,
    pub server_cpu: Option<Duration>,
    pub generator_cpu: Option<Duration>,
    pub generator_waited: Option<Duration>,
}

impl Meter {
    pub fn start(server_pid: u32) -> Self {
        let server_cpu = CpuTime::of(server_pid);
        let (generator_cpu, generator_waited) = (own_cpu_time(), own_wait());
        let start = Instant::now();
        Self { start, server_pid, server_cpu, generator_cpu, generator_waited }
    }

    pub fn stop(self) -> Reading {
        let measured = self.start.elapsed();
        let since = |before: Option<Duration>, now: Option<Duration>| now?.checked_sub(before?);
        let generator_cpu = since(self.generator_cpu, own_cpu_time());
        let generator_waited = since(self.generator_waited, own_wait());
        let server_cpu = CpuTime::of(self.server_pid)
            .zip(self.server_cpu)
            .and_then(|(now, then)| now.since(&then));
        Reading { measured, server_cpu, generator_cpu, generator_waited }
    }
}

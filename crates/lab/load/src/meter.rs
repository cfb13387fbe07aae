//! Reads the clock and the CPU times at both ends of a measurement.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::cpu_time;

#[derive(Debug)]
pub struct Meter {
    start: Instant,
    server_pid: u32,
    server_cpu: Option<Duration>,
    generator_cpu: Option<Duration>,
}

/// The differences between two readings.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub measured: Duration,
    pub server_cpu: Option<Duration>,
    pub generator_cpu: Option<Duration>,
}

impl Meter {
    pub fn start(server_pid: u32) -> Self {
        let (server_cpu, generator_cpu) = (cpu_time(server_pid), cpu_time(std::process::id()));
        Self { start: Instant::now(), server_pid, server_cpu, generator_cpu }
    }

    pub fn stop(self) -> Reading {
        let since = |before: Option<Duration>, pid| Some(cpu_time(pid)?.saturating_sub(before?));
        Reading {
            measured: self.start.elapsed(),
            server_cpu: since(self.server_cpu, self.server_pid),
            generator_cpu: since(self.generator_cpu, std::process::id()),
        }
    }
}

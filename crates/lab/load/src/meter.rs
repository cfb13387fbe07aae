//! What is read at both ends of a measurement: the clock, and who used how much of a core.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::{self, CoreTime};

/// The readings at the beginning.
#[derive(Debug)]
pub struct Meter {
    start: Instant,
    server_pid: u32,
    server: Option<CoreTime>,
    generator: Option<CoreTime>,
}

/// What happened between two readings.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// How long it took.
    pub measured: Duration,
    /// CPU time of the server.
    pub server_cpu: Option<Duration>,
    /// CPU time of the generator.
    pub generator_cpu: Option<Duration>,
    /// How long the generator's threads were ready to run and had no core.
    pub generator_waited: Option<Duration>,
}

impl Meter {
    /// Reads for the first time.
    pub fn start(server_pid: u32) -> Self {
        let server = process::core_time(server_pid);
        let generator = process::core_time(std::process::id());
        Self { start: Instant::now(), server_pid, server, generator }
    }

    /// Reads for the second time.
    pub fn stop(self) -> Reading {
        let measured = self.start.elapsed();
        let server = since(self.server, process::core_time(self.server_pid));
        let generator = since(self.generator, process::core_time(std::process::id()));
        Reading {
            measured,
            server_cpu: server.map(|time| time.used),
            generator_cpu: generator.map(|time| time.used),
            generator_waited: generator.map(|time| time.waited),
        }
    }
}

fn since(before: Option<CoreTime>, after: Option<CoreTime>) -> Option<CoreTime> {
    let (before, after) = (before?, after?);
    Some(CoreTime {
        used: after.used.saturating_sub(before.used),
        waited: after.waited.saturating_sub(before.waited),
    })
}

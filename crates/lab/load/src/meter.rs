//! Reads the clock and the CPU times at both ends of a measurement, and the server's memory between them.

use std::{cell::RefCell, rc::Rc, time::Duration};

use lab_protocol::{LoadPlan, Outcome};
use tokio::{
    task::{AbortHandle, spawn_local},
    time::{Instant, sleep},
};

use lab_system::process::{CpuTime, own_cpu_time, own_wait, peak_rss_mib, rss_mib};

use super::heartbeat::Heartbeat;

#[derive(Debug)]
pub struct Meter {
    start: Instant,
    server_pid: Option<u32>,
    server_cpu: Option<CpuTime>,
    generator_cpu: Option<Duration>,
    generator_waited: Option<Duration>,
    heartbeat: Option<Heartbeat>,
    memory: MemoryWatch,
}

impl Meter {
    pub fn start(plan: &LoadPlan) -> Self {
        let server_pid = plan.server_pid;
        let memory = MemoryWatch::watch(server_pid, plan.measurement / FIFTHS);
        let server_cpu = server_pid.and_then(CpuTime::of);
        let (generator_cpu, generator_waited) = (own_cpu_time(), own_wait());
        let heartbeat = Heartbeat::start();
        let start = Instant::now();
        Self { start, server_pid, server_cpu, generator_cpu, generator_waited, heartbeat, memory }
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
        outcome.server_rss_mib = self.memory.sizes();
    }
}

const FIFTHS: u32 = 5;

/// Asks for the server's memory after each fifth of a measurement, until it is dropped.
#[derive(Debug)]
struct MemoryWatch {
    server_pid: Option<u32>,
    sizes: Rc<RefCell<Vec<Option<f64>>>>,
    watch: AbortHandle,
}

impl MemoryWatch {
    fn watch(server_pid: Option<u32>, fifth: Duration) -> Self {
        let size = move || server_pid.and_then(rss_mib);
        let sizes = Rc::new(RefCell::new(vec![size()]));
        let found = sizes.clone();
        let watch = spawn_local(async move {
            for _ in 1..FIFTHS {
                sleep(fifth).await;
                found.borrow_mut().push(size());
            }
        });
        Self { server_pid, sizes, watch: watch.abort_handle() }
    }

    /// All of them with the one at the end, which is now; none if one is missing.
    fn sizes(&self) -> Vec<f64> {
        let mut sizes = self.sizes.borrow().clone();
        sizes.resize(FIFTHS as usize, None);
        sizes.push(self.server_pid.and_then(rss_mib));
        sizes.into_iter().collect::<Option<_>>().unwrap_or_default()
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

//! The time that is recorded, with the CPU time that the system counted over it.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use lab_observation::Window;
use lab_system::process::{self, CpuTime};
use tokio::time::sleep;

use super::Failure;

/// How often to check that the server is alive.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until a window has passed, and fails as soon as the server is dead.
pub async fn pass(pid: u32, length: Duration) -> Result<Window, Failure> {
    let (start, before) = (Instant::now(), CpuTime::of(pid));
    while let Some(left) = length.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        sleep(left.min(LOOK)).await;
        ensure_alive(pid)?;
    }
    let (length, after) = (start.elapsed(), CpuTime::of(pid));
    let system_cpu = after.zip(before).and_then(|(after, before)| after.since(&before));
    Ok(Window { length, system_cpu })
}

/// A dead server is not the profiler's fault.
pub fn ensure_alive(pid: u32) -> Result<(), Failure> {
    if process::is_alive(pid) {
        Ok(())
    } else {
        Err(Failure::Fatal(anyhow!("the server died while it was sampled: see its own last lines")))
    }
}

/// For use after the profiler has exited: a process with threads takes a moment to die, and the
/// profiler sees the first thread go.
pub async fn ensure_alive_for_a_while(pid: u32) -> Result<(), Failure> {
    for _ in 0..10 {
        ensure_alive(pid)?;
        sleep(LOOK).await;
    }
    Ok(())
}

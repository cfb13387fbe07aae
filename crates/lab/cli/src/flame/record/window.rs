//! The time that is recorded, with the system's account of the CPU over the same time.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use tokio::time::sleep;

use super::Failure;
use crate::process;

/// How often a server that is recorded is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// What was measured from outside while the profiler sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// How long it was.
    pub(super) length: Duration,
    /// What the server used in it; absent where the system does not tell.
    pub(super) system_cpu: Option<Duration>,
}

/// Lets a window pass, and fails as soon as the server is dead.
pub(super) async fn pass(pid: u32, length: Duration) -> Result<Window, Failure> {
    let used = || process::core_time(pid).map(|time| time.used);
    let (start, before) = (Instant::now(), used());
    while let Some(left) = length.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        sleep(left.min(LOOK)).await;
        ensure_alive(pid)?;
    }
    let (length, after) = (start.elapsed(), used());
    // A thread that ends takes its time along, so that a later account can be the smaller one.
    let system_cpu = after.zip(before).and_then(|(after, before)| after.checked_sub(before));
    Ok(Window { length, system_cpu })
}

/// A server that is dead is no profiler's fault.
pub(super) fn ensure_alive(pid: u32) -> Result<(), Failure> {
    match process::is_alive(pid) {
        true => Ok(()),
        false => Err(Failure::Fatal(anyhow!(
            "the server died while it was sampled: its own last lines say why"
        ))),
    }
}

/// The same of a server whose profiler has just ended: a process with threads takes a moment to end,
/// and profilers see the first of them go.
pub(super) async fn ensure_alive_for_a_while(pid: u32) -> Result<(), Failure> {
    for _ in 0..10 {
        ensure_alive(pid)?;
        sleep(LOOK).await;
    }
    Ok(())
}

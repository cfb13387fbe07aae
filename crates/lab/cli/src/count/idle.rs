//! Waiting until processes have nothing left to do.
//!
//! An answer that has arrived does not mean that the server is done with it: a connection goes back
//! into its pool, a ticket is put away, a task is dropped. A fixed pause would be too short on a busy
//! machine; so this looks whether all threads sleep.

use std::time::Duration;

use anyhow::bail;
use tokio::time::sleep;

/// Between two looks: as finely as Tokio's timer ticks.
const PAUSE: Duration = Duration::from_millis(1);
/// As many looks in a row have to find all threads asleep: one may miss the moment in which a thread
/// has woken another, and sleeps already.
const IN_A_ROW: u32 = 2;
/// Looks until a process that never rests is given up: some ten seconds.
const MOST: u32 = 10_000;

/// Returns once all threads of all processes sleep.
pub(super) async fn wait(pids: &[u32]) -> anyhow::Result<()> {
    let mut in_a_row = 0;
    for _ in 0..MOST {
        sleep(PAUSE).await;
        in_a_row = if pids.iter().all(|pid| asleep(*pid)) { in_a_row + 1 } else { 0 };
        if in_a_row == IN_A_ROW {
            return Ok(());
        }
    }
    bail!("the server goes on working after its answer, so that nothing can be counted exactly")
}

/// Whether all threads of a process sleep; so does one that has ended.
#[cfg(target_os = "linux")]
fn asleep(pid: u32) -> bool {
    let tasks = i32::try_from(pid)
        .ok()
        .and_then(|pid| procfs::process::Process::new(pid).ok())
        .and_then(|process| process.tasks().ok());
    let sleeps = |task: procfs::process::Task| task.stat().is_ok_and(|stat| stat.state == 'S');
    tasks.is_none_or(|mut tasks| tasks.all(|task| task.is_ok_and(sleeps)))
}

/// Where it cannot be seen, the pauses alone have to do.
#[cfg(not(target_os = "linux"))]
fn asleep(_pid: u32) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_is_not_asleep() {
        assert!(!asleep(std::process::id()), "this very thread is awake");
        assert!(asleep(u32::MAX));
    }
}

//! When a server has come to rest.

use std::time::Duration;

use anyhow::bail;
use lab_system::process;
use tokio::time::sleep;

/// Between two looks at the threads: as short as Tokio's timer allows.
const PAUSE: Duration = Duration::from_millis(1);
/// How many looks in a row must find all threads asleep. One may miss the moment in which a thread
/// wakes another one and falls asleep itself.
const IN_A_ROW: u32 = 2;
/// How many looks before giving up: about ten seconds.
const MOST: u32 = 10_000;

/// A server that never rests, in words.
pub const RESTLESS: &str = "the server keeps working after its answer";

/// Returns once all threads of all processes sleep.
///
/// After its answer a server may still work: it returns a connection to the pool, stores a session
/// ticket, drops a task. A fixed pause would be too short on a busy machine.
pub(super) async fn idle(pids: &[u32]) -> anyhow::Result<()> {
    let mut in_a_row = 0;
    for _ in 0..MOST {
        sleep(PAUSE).await;
        in_a_row = if pids.iter().all(|pid| process::is_asleep(*pid)) { in_a_row + 1 } else { 0 };
        if in_a_row == IN_A_ROW {
            return Ok(());
        }
    }
    bail!("{RESTLESS}, so nothing can be counted exactly")
}

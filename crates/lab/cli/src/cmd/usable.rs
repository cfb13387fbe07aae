//! What `lab` needs of the system, whatever the verb. Without it, it would panic later, after all runs.

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use lab_system::stack_limit;
use std::time::SystemTime;

/// Twice what any verb uses.
const STACK: u64 = 2 << 20;

/// Fails, saying what to do, if something is missing.
pub fn ensure_usable() -> anyhow::Result<()> {
    ensure_stack(stack_limit())?;
    ensure_clock(SystemTime::now())
}

/// `None` is no limit.
fn ensure_stack(bytes: Option<u64>) -> anyhow::Result<()> {
    let Some(bytes) = bytes else { return Ok(()) };
    ensure!(
        bytes >= STACK,
        "the stack may have only {} KiB, and `lab` needs {} KiB: `ulimit -s 8192` in this shell, or in a new one",
        bytes >> 10,
        STACK >> 10
    );
    Ok(())
}

/// A record has the time in a form that has four digits for the year.
fn ensure_clock(now: SystemTime) -> anyhow::Result<()> {
    Timestamp::try_from(now).context("the clock is beyond the year 9999: set it")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_beyond_the_year_9999_is_an_error() {
        ensure_clock(SystemTime::now()).unwrap();
        let year = Duration::from_secs(366 * 24 * 60 * 60);
        let error = ensure_clock(SystemTime::UNIX_EPOCH + year * 8_030).unwrap_err();
        assert!(error.to_string().starts_with("the clock is beyond the year 9999"));
    }

    #[test]
    fn a_small_stack_is_an_error() {
        for allowed in [None, Some(STACK)] {
            ensure_stack(allowed).unwrap();
        }
        let error = ensure_stack(Some(64 << 10)).unwrap_err().to_string();
        assert!(error.starts_with("the stack may have only 64 KiB"), "{error}");
    }
}

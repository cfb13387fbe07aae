//! Checks that every verb needs. Without them, `lab` would panic later, after all runs.

use anyhow::ensure;
use lab_system::stack_limit;

/// Twice what any verb uses.
const STACK: u64 = 2 << 20;

/// Fails, saying what to do, if something is missing.
pub fn ensure_usable() -> anyhow::Result<()> {
    ensure_stack(stack_limit())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_stack_is_an_error() {
        for allowed in [None, Some(STACK)] {
            ensure_stack(allowed).unwrap();
        }
        let error = ensure_stack(Some(64 << 10)).unwrap_err().to_string();
        assert!(error.starts_with("the stack may have only 64 KiB"), "{error}");
    }
}

//! Limits of this process: open files, as every connection needs one, and the stack.

use anyhow::{Context as _, ensure};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};

/// Open files besides connections: standard streams, epoll and the like.
const OTHERS: u64 = 100;

/// Raises the limit for `connections` in this process. Servers and generator inherit it.
///
/// # Errors
///
/// If the system's limit of open files is too low.
pub fn allow_connections(connections: usize) -> anyhow::Result<()> {
    // A proxy has two sockets per connection.
    allow(connections, 2)
}

/// Raises the limit of open files for a process that only opens the connections itself.
///
/// # Errors
///
/// If the system's limit of open files is too low.
pub fn allow_own_connections(connections: usize) -> anyhow::Result<()> {
    allow(connections, 1)
}

fn allow(connections: usize, each: u64) -> anyhow::Result<()> {
    let needed = connections as u64 * each + OTHERS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("cannot read the limits")?;
    if soft < needed {
        let allowed = needed.min(hard);
        let raised = setrlimit(Resource::RLIMIT_NOFILE, allowed, hard);
        raised.with_context(|| format!("cannot allow {allowed} open files"))?;
    }
    ensure!(
        hard >= needed,
        "{connections} connections need {needed} open files and only {hard} are allowed: \
         raise the hard limit (`ulimit -Hn {needed}` as root, then run again from that shell), \
         or ask for fewer users with `--users`"
    );
    Ok(())
}

/// How many bytes the stack of the main thread may have; `None` if as many as there are.
pub fn stack_limit() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_STACK).ok()?;
    (soft != RLIM_INFINITY).then_some(soft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_cannot_be_raised_comes_with_its_fix() {
        let error = allow_connections(1 << 40).unwrap_err().to_string();
        assert!(error.contains("ulimit -Hn") && error.contains("--users"), "{error}");
        let error = allow_own_connections(1 << 40).unwrap_err().to_string();
        assert!(error.contains("need 1099511627876 open files"), "{error}");
    }
}

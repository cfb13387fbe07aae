//! The limit of open files: every connection needs one.

use anyhow::{Context as _, ensure};

/// Raises the limit for `connections` in this process. Servers and generator inherit it.
pub fn allow_connections(connections: usize) -> anyhow::Result<()> {
    // A proxy has two sockets per connection; the rest is for standard streams, epoll and the like.
    let needed = connections as u64 * 2 + 100;
    let allowed = rlimit::increase_nofile_limit(needed).context("cannot read the limits")?;
    ensure!(
        allowed >= needed,
        "{connections} connections need {needed} open files and only {allowed} are allowed: \
         raise the hard limit (`ulimit -Hn {needed}` as root, then run again from that shell), \
         or ask for fewer users with `--users`"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_cannot_be_raised_comes_with_its_fix() {
        let error = allow_connections(1 << 40).unwrap_err().to_string();
        assert!(error.contains("ulimit -Hn") && error.contains("--users"), "{error}");
    }
}

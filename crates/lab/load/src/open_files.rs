//! The limit of open files, which every connection needs one of.

use anyhow::{Context as _, ensure};

/// Makes room for `connections` in this process and in those that it starts: servers and generator
/// inherit the limit of open files from here.
pub fn allow_connections(connections: usize) -> anyhow::Result<()> {
    // A proxy has two sockets a connection; the rest is for standard streams, epoll and the like.
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
    fn a_limit_that_cannot_be_raised_is_told_with_its_remedy() {
        let error = allow_connections(1 << 40).unwrap_err().to_string();
        assert!(error.contains("ulimit -Hn") && error.contains("--users"), "{error}");
    }
}

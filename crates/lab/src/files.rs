//! Files: results that are whole or absent, and the limit of open ones.

use std::{io::Write as _, path::Path};

use anyhow::{Context as _, ensure};

/// Writes a file in one step: readers see the old one or the new one, never a part.
pub fn write_whole(path: &Path, content: &str) -> anyhow::Result<()> {
    let dir = path.parent().context("a file has a directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut file = tempfile::NamedTempFile::new_in(dir)
        .with_context(|| format!("cannot write in {}", dir.display()))?;
    file.write_all(content.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Makes room for `connections` in this process and in those that it starts: servers and generator
/// inherit the limit of open files from here.
pub fn allow_connections(connections: usize) -> anyhow::Result<()> {
    // A proxy has two sockets a connection; the rest is for standard streams, epoll and the like.
    let needed = connections as u64 * 2 + 100;
    let allowed = rlimit::increase_nofile_limit(needed).unwrap_or(needed);
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
    fn a_file_is_replaced_as_a_whole_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/result.json");
        write_whole(&path, "old").unwrap();
        write_whole(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_limit_that_cannot_be_raised_is_told_with_its_remedy() {
        let error = allow_connections(1 << 40).unwrap_err().to_string();
        assert!(error.contains("ulimit -Hn") && error.contains("--users"), "{error}");
    }
}

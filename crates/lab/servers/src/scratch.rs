//! Temporary directories that do not outlive `lab` for long, even if it is killed.

use std::{
    fs::{File, Permissions, remove_dir_all},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use anyhow::Context as _;
use tempfile::TempDir;

const PREFIX: &str = "lab-scratch-";

/// A temporary directory that only its user can look into, removed when dropped. If `lab` is killed
/// instead, the next one removes it.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    /// The system releases the lock when this process exits, so nobody mistakes a directory in use for
    /// one that was left behind.
    _lock: File,
}

impl Scratch {
    /// A directory where the system keeps temporary files.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made.
    pub fn new() -> anyhow::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// A temporary directory below `parent`.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made.
    pub fn within(parent: &Path) -> anyhow::Result<Self> {
        remove_stale(parent);
        // Profiles, the bodies of requests and what servers leave here may be secret.
        let private = Permissions::from_mode(0o700);
        loop {
            let mut dir = tempfile::Builder::new();
            let dir = dir.prefix(PREFIX).permissions(private.clone()).tempdir_in(parent);
            let dir = dir.context("cannot make a temporary directory")?;
            // Another `lab` may take it for a stale one before it is locked. Without locks in the
            // file system nobody removes it.
            let Ok(lock) = File::open(dir.path()) else { continue };
            let _ = lock.lock();
            if dir.path().is_dir() {
                return Ok(Self { dir, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes the directories that nobody has locked, where the system permits it.
fn remove_stale(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Ok(dir) = File::open(entry.path())
            && dir.try_lock().is_ok()
        {
            let _ = remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_private() {
        let parent = tempfile::tempdir().unwrap();
        let used = Scratch::within(parent.path()).unwrap();
        assert_eq!(used.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_was_left_behind_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let used = Scratch::within(parent.path()).unwrap();
        // As a killed `lab` leaves it: there, and not locked.
        let left = parent.path().join(format!("{PREFIX}left"));
        std::fs::create_dir(&left).unwrap();
        let next = Scratch::within(parent.path()).unwrap();
        assert!(!left.exists() && used.path().is_dir() && next.path().is_dir());
    }
}

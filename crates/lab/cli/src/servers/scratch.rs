//! Temporary directories that do not outlive `lab` for long, even if it is killed.

use std::{
    fs::{File, create_dir_all, remove_dir_all},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

const PREFIX: &str = "lab-scratch-";

/// A temporary directory, removed when dropped. If `lab` is killed instead, the next one removes it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The system releases the lock when this process exits, so nobody mistakes a directory in use for
    /// one that was left behind.
    lock: File,
}

impl Scratch {
    /// A directory where the system keeps temporary files.
    pub fn new() -> anyhow::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// A new directory in `parent`.
    pub fn within(parent: &Path) -> anyhow::Result<Self> {
        remove_stale(parent);
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        Self::at(dir.context("cannot make a temporary directory")?.keep())
    }

    /// The directory of this name in `parent`, which several users may share. The last one removes it.
    pub fn shared(parent: &Path, name: &str) -> anyhow::Result<Self> {
        remove_stale(parent);
        Self::at(parent.join(format!("{PREFIX}{name}")))
    }

    fn at(path: PathBuf) -> anyhow::Result<Self> {
        let lock = loop {
            create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
            let opened = File::open(&path).and_then(|lock| lock.lock_shared().map(|()| lock));
            let lock = match opened {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened.with_context(|| format!("cannot lock {}", path.display()))?,
            };
            // Another `lab` may have removed it before it was locked.
            if path.is_dir() {
                break lock;
            }
        };
        Ok(Self { path, lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = self.lock.unlock();
        remove_unless_used(&self.path);
    }
}

/// Removes what killed processes left behind, where the system permits it.
fn remove_stale(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            remove_unless_used(&entry.path());
        }
    }
}

fn remove_unless_used(path: &Path) {
    if let Ok(dir) = File::open(path)
        && dir.try_lock().is_ok()
    {
        let _ = remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_lasts_as_long_as_its_last_user() {
        let parent = tempfile::tempdir().unwrap();
        let used = Scratch::within(parent.path()).unwrap();
        // As a killed `lab` leaves it: there, and not locked.
        let left = parent.path().join(format!("{PREFIX}name"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("half"), "").unwrap();
        let shared = [(); 2].map(|()| Scratch::shared(parent.path(), "name").unwrap());
        assert!(used.path().is_dir() && left.is_dir() && !left.join("half").exists());
        let [first, last] = shared;
        drop(first);
        assert!(left.is_dir());
        drop(last);
        assert!(!left.exists());
    }
}

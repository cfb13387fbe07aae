//! The machine as the checks see it: files under a root, programs on a path, and a few facts.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// A machine, real or fake.
#[derive(Clone, Debug)]
pub struct System {
    /// Contains `proc`, `sys` and `etc`: `/`, or a test's directory.
    pub root: PathBuf,
    pub path: OsString,
    /// Cores that this process may use.
    pub cores: Option<usize>,
    /// Whether `lab` itself is a debug build.
    pub debug_build: bool,
}

impl System {
    pub fn this() -> Self {
        Self {
            root: PathBuf::from("/"),
            path: std::env::var_os("PATH").unwrap_or_default(),
            cores: std::thread::available_parallelism().ok().map(usize::from),
            debug_build: cfg!(debug_assertions),
        }
    }

    /// The machine that a test has made.
    #[cfg(test)]
    pub fn of_test(machine: &fake_machine::FakeMachine) -> Self {
        let (root, path) = (machine.root().to_owned(), machine.path("bin").into());
        Self { root, path, cores: Some(4), debug_build: false }
    }

    /// The trimmed text of a file such as `proc/loadavg`.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes(path)?).trim().to_owned())
    }

    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    pub fn number(&self, path: &str) -> Option<i64> {
        self.read(path)?.parse().ok()
    }

    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let mut candidates = std::env::split_paths(&self.path).map(|dir| dir.join(name));
        candidates.find(|path| is_executable(path))
    }

    pub fn is_root(&self) -> bool {
        let status = self.read("proc/self/status").unwrap_or_default();
        let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        // The real and the effective one.
        uids.and_then(|uids| uids.split_whitespace().nth(1)) == Some("0")
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

//! A healthy machine in a directory, for tests to break in one place at a time.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// What a healthy machine exposes.
const FILES: [(&str, &str); 6] = [
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
    ("sys/fs/cgroup/cpu.max", "max 100000"),
    ("proc/loadavg", "0.05 0.04 0.01 1/200 4242"),
    ("proc/stat", "cpu  900 0 100 9000 10 0 0 0 0 0\n"),
    ("proc/self/status", "Name:\tlab\nUid:\t1000\t1000\t1000\t1000\n"),
    ("proc/sys/kernel/perf_event_paranoid", "1"),
];

/// The machine. Dropping it deletes the directory.
pub struct FakeMachine(TempDir);

impl FakeMachine {
    /// A machine without faults.
    pub fn healthy() -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        for (path, text) in FILES {
            fake.write(path, text);
        }
        fake.program("perf", "echo 1.5,msec,task-clock,1 >&2; echo 900,,cycles,1 >&2");
        fake
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// A file or directory on it, such as `proc/loadavg`. Its programs are in `bin`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    /// Puts a shell script on the path.
    pub fn program(&self, name: &str, script: &str) {
        let path = format!("bin/{name}");
        self.write(&path, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

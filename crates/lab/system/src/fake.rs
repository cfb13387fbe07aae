//! A healthy machine in a directory, for tests to break in one place at a time.

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use lab_system::System;
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
pub struct Fake {
    pub system: System,
    dir: TempDir,
}

impl Fake {
    /// A machine without faults.
    pub fn healthy() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let system = System {
            root: dir.path().to_owned(),
            path: OsString::from(dir.path().join("bin")),
            cores: Some(4),
            debug_build: false,
        };
        let fake = Self { system, dir };
        FILES.iter().for_each(|(path, text)| fake.write(path, text));
        fake.program("perf", "echo 1.5,msec,task-clock,1 >&2; echo 900,,cycles,1 >&2");
        fake
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
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

//! A healthy machine in a directory, for tests to break in one place at a time.

#![expect(clippy::unwrap_used, reason = "only tests call it")]

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use tempfile::TempDir;

use super::{Finding, Needs, System, examine};

/// What a healthy machine shows.
const FILES: [(&str, &str); 19] = [
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
    ("sys/fs/cgroup/cpu.max", "max 100000"),
    ("sys/class/dmi/id/product_name", "ThinkStation"),
    ("sys/class/power_supply/AC/type", "Mains"),
    ("sys/class/power_supply/AC/online", "1"),
    ("proc/loadavg", "0.05 0.04 0.01 1/200 4242"),
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc sse2\n"),
    ("proc/stat", "cpu  900 0 100 9000 10 0 0 0 0 0\n"),
    ("proc/self/status", "Name:\tlab\nUid:\t1000\t1000\t1000\t1000\n"),
    (
        "proc/meminfo",
        "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    ),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999"),
    ("proc/net/sockstat", "sockets: used 9\nTCP: inuse 7 orphan 0 tw 12 alloc 9 mem 1\n"),
    ("proc/sys/kernel/perf_event_paranoid", "1"),
    ("proc/sys/kernel/kptr_restrict", "0"),
];

/// Programs that do as little as the checks ask of them.
const PROGRAMS: [(&str, &str); 7] = [
    ("df", "echo head; echo 'disk 99999999 1 88888888 1% /'"),
    ("perf", "echo 1.5,msec,task-clock,1 >&2; echo 900,,cycles,1 >&2"),
    ("valgrind", "echo valgrind-3.25.1"),
    ("just", ":"),
    ("wrk", ":"),
    ("gungraun-runner", ":"),
    ("apt-get", ":"),
];

/// The machine; it goes when this is dropped.
pub struct Fake {
    pub system: System,
    dir: TempDir,
}

impl Fake {
    /// One that the doctor has nothing to say about.
    pub fn healthy() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let system = System {
            root: dir.path().to_owned(),
            path: OsString::from(dir.path().join("bin")),
            cores: Some(4),
            open_files: Some((1024, 1 << 20)),
            debug_build: false,
            needs: Needs {
                open_files: 6_100,
                bin_dir: Some(dir.path().join("target/release")),
                binaries: vec!["toy-slow".to_owned(), "toy-fixed".to_owned()],
            },
        };
        let fake = Self { system, dir };
        FILES.iter().for_each(|(path, text)| fake.write(path, text));
        PROGRAMS.iter().for_each(|(name, script)| fake.program(name, script));
        fake.write("target/release/toy-slow", "");
        fake.write("target/release/toy-fixed", "");
        fake
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Writes a file below the root.
    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// Takes a file or a directory away.
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

    /// What the doctor says of one thing.
    pub fn finding(&self, topic: &str) -> Finding {
        let findings = examine(&self.system);
        findings.into_iter().find(|finding| finding.topic == topic).unwrap()
    }
}

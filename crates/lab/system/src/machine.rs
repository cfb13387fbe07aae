//! The machine and the build of a record, so that a reader can judge its figures years later.

use std::{fmt, fs, path::Path, process::Command, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Program;

/// How long git and rustc may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Values that the system does not reveal are `None`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Machine {
    pub os: String,
    pub arch: String,
    pub cpu: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    pub kernel: Option<String>,
    /// Whether the processor reports a hypervisor.
    pub virtual_machine: Option<bool>,
    /// The frequency governor of the first core.
    pub governor: Option<String>,
    pub memory_mib: Option<u64>,
}

/// How the servers were built, and from what. Values are `None` where nothing vouches for them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Build {
    /// The output of `rustc --version`.
    pub rustc: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    pub commit: Option<String>,
    /// Whether the working tree had uncommitted changes.
    pub dirty: Option<bool>,
}

impl fmt::Display for Machine {
    /// `AMD EPYC-Milan (2 cores, virtual machine)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu = self.cpu.as_ref().unwrap_or(&self.arch);
        let cores = if self.cores == 1 { "core" } else { "cores" };
        let kind = if self.virtual_machine == Some(true) { "virtual machine" } else { &self.os };
        write!(f, "{cpu} ({} {cores}, {kind})", self.cores)
    }
}

impl Machine {
    pub fn here() -> Self {
        let cpuinfo = text("/proc/cpuinfo");
        let field = |name: &str| {
            let line = cpuinfo.as_deref()?.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpu: field("model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: line("/proc/sys/kernel/osrelease"),
            virtual_machine: field("flags")
                .map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory_mib: text("/proc/meminfo").and_then(|text| {
                let kib = text.lines().next()?.split_whitespace().nth(1)?;
                Some(kib.parse::<u64>().ok()? / 1024)
            }),
        }
    }
}

impl Build {
    /// The build that cargo makes now in a profile, from the working tree `root`. It describes binaries only if cargo
    /// has just built them or found them up to date.
    pub fn of(root: &Path, profile: &str) -> Self {
        let status = output_of(root, "git", &["status", "--porcelain"]);
        Self {
            rustc: output_of(root, "rustc", &["--version"]),
            profile: profile.to_owned(),
            commit: output_of(root, "git", &["rev-parse", "HEAD"]),
            dirty: status.map(|changes| !changes.is_empty()),
        }
    }

    /// The build of binaries that `lab` did not build: nothing is known about it.
    pub fn unknown() -> Self {
        Self { rustc: None, profile: "unknown".to_owned(), commit: None, dirty: None }
    }
}

/// The average number of processes that ran or waited for a core over the last minute.
pub fn load_average() -> Option<f64> {
    line("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

fn line(path: &str) -> Option<String> {
    Some(text(path)?.lines().next()?.trim().to_owned())
}

/// The text of a file. A character that is not UTF-8, in a firmware's name for example, does not hide the rest.
fn text(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

/// The trimmed output of a program; `None` if it is missing or fails.
pub fn output_of(dir: &Path, program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir);
    let printed = Program::new(command, PATIENCE).wait().ok()?;
    Some(String::from_utf8_lossy(&printed).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_and_repositories_are_no_error() {
        assert_eq!(output_of(Path::new("."), "no-such-program-anywhere", &[]), None);
        let elsewhere = tempfile::tempdir().unwrap();
        let build = Build::of(elsewhere.path(), "release");
        assert_eq!((build.commit, build.dirty), (None, None));
        assert_eq!(build.profile, "release");
    }
}

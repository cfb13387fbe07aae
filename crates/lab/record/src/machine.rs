//! Where a record was made: the machine and the build, so that a figure can be judged years later.

use std::{fs, path::Path, process::Command};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine. What the system does not tell is absent.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Machine {
    /// The operating system, such as `linux`.
    pub os: String,
    /// The processor's architecture, such as `x86_64`.
    pub arch: String,
    /// The processor's name.
    pub cpu: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Whether the processor says that a hypervisor is above it.
    pub virtual_machine: Option<bool>,
    /// The frequency governor of the first core.
    pub governor: Option<String>,
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
}

/// How the programs were built, and from what.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Build {
    /// What `rustc --version` prints here.
    pub rustc: Option<String>,
    /// `release` or `debug`, from the directory of the binaries.
    pub profile: String,
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// Whether the tree holds changes that no commit has.
    pub dirty: Option<bool>,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").ok();
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
            memory_mib: fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
                let kib = text.lines().next()?.split_whitespace().nth(1)?;
                Some(kib.parse::<u64>().ok()? / 1024)
            }),
        }
    }
}

impl Build {
    /// Of the binaries in `bin_dir`, built from the tree around `root`.
    pub fn of(root: &Path, bin_dir: &Path) -> Self {
        let status = output(root, "git", &["status", "--porcelain"]);
        Self {
            rustc: output(root, "rustc", &["--version"]),
            profile: bin_dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            commit: output(root, "git", &["rev-parse", "HEAD"]),
            dirty: status.map(|changes| !changes.is_empty()),
        }
    }
}

/// How many processes wanted a core over the last minute, on average.
pub fn load_average() -> Option<f64> {
    line("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// The first line of a file.
fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.lines().next()?.trim().to_owned())
}

/// What a program prints, without the space around it; nothing if it is missing or fails.
fn output(dir: &Path, program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).current_dir(dir).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_absent_and_no_error() {
        assert_eq!(output(Path::new("."), "no-such-program-anywhere", &[]), None);
        let elsewhere = tempfile::tempdir().unwrap();
        let build = Build::of(elsewhere.path(), Path::new("target/release"));
        assert_eq!((build.commit, build.dirty), (None, None));
        assert_eq!(build.profile, "release");
    }
}

//! What `perf` says when it does not work, and what mends it.

use std::time::Duration;

use super::super::{super::Rung, Obstacle, program::gist};
use crate::doctor::{self, System};

/// Why `perf` does not record.
#[derive(Debug)]
pub(super) enum Complaint {
    /// It cannot be started.
    NoStart(String),
    /// It did not do for so long what it was told to.
    Silent(Duration),
    /// It ended, with these words.
    Said(String),
}

impl Complaint {
    pub(super) fn no_start(error: std::io::Error) -> Self {
        Self::NoStart(error.to_string())
    }

    /// Whether this `perf` was built without compression.
    pub(super) fn is_about_compression(&self) -> bool {
        let signs = ["switch `z'", "option `z'", "compression-level", "compression level", "zstd"];
        matches!(self, Self::Said(said) if signs.iter().any(|sign| said.contains(sign)))
    }

    /// Whether it may not lock as much memory as it was told to use.
    pub(super) fn is_about_memory(&self) -> bool {
        let signs = ["mapping pages", "mmap_pages", "mmap with"];
        matches!(self, Self::Said(said) if signs.iter().any(|sign| said.contains(sign)))
    }

    /// In words, without a look at the system.
    pub(super) fn as_obstacle(&self) -> Obstacle {
        match self {
            Self::NoStart(error) => Obstacle::new(format!("`perf` cannot be started: {error}")),
            Self::Silent(patience) => {
                let seconds = patience.as_secs();
                Obstacle::new(format!("`perf` hung: it did not obey within {seconds} s"))
            }
            Self::Said(said) => Obstacle::new(format!("`perf` ended at once: {}", gist(said)))
                .mend("`perf record -p PID` by hand, and `just doctor`, say more"),
        }
    }

    /// In words, with what mends it on this system.
    pub(super) fn explain(&self, system: &System, rung: Rung) -> Obstacle {
        let Self::Said(said) = self else { return self.as_obstacle() };
        let says = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
        if self.is_about_memory() {
            return Obstacle::new(
                "`perf` may not lock enough memory for its buffers (`perf_event_mlock_kb`)",
            )
            .mend("sudo sysctl kernel.perf_event_mlock_kb=65536");
        }
        if says(&["option `control'", "invalid delay", "option `delay'"]) {
            return Obstacle::new(
                "this `perf` is older than 5.10 and cannot be told when to record",
            )
            .mend(install(system));
        }
        if says(&["not found for kernel"]) {
            return Obstacle::new(format!("`perf` is another kernel's: {}", gist(said)))
                .mend(format!("{}-$(uname -r)", doctor::install(system, "linux-tools")));
        }
        if says(&["Function not implemented"]) {
            return Obstacle::new("this kernel, or the sandbox on top of it, has no perf events");
        }
        if says(&["perf_event_paranoid", "Permission denied", "Operation not permitted"]) {
            return refused(system, rung);
        }
        self.as_obstacle()
    }
}

/// The command that installs `perf`.
pub(super) fn install(system: &System) -> String {
    doctor::install(system, &doctor::perf_package(system))
}

/// The kernel refuses: by its setting, or because of a container or a policy.
pub(super) fn refused(system: &System, rung: Rung) -> Obstacle {
    let permitted = if rung == Rung::PerfWithKernel { 1 } else { 2 };
    let level = system.number("proc/sys/kernel/perf_event_paranoid");
    let container = doctor::container_sign(system).is_some();
    let capability = "start the container with `--cap-add=PERFMON`";
    let sysctl = "sudo sysctl kernel.perf_event_paranoid=1";
    match level {
        Some(level) if level > permitted => {
            let keeps = match rung {
                Rung::PerfWithKernel => "keeps `perf` out of the kernel",
                _ => "lets only root use `perf`",
            };
            let obstacle =
                Obstacle::new(format!("kernel.perf_event_paranoid is {level}, which {keeps}"));
            match container {
                true => obstacle.mend(format!("{capability}, or on its host `{sysctl}`")),
                false => obstacle.mend(sysctl),
            }
        }
        _ => {
            let level = level.map_or("unknown".to_owned(), |level| level.to_string());
            Obstacle::new(format!(
                "the kernel refuses `perf` its events (EPERM) though perf_event_paranoid is \
                 {level}, as it does in a container"
            ))
            .mend(format!(
                "{capability}, with an old Docker also `--security-opt seccomp=unconfined`"
            ))
        }
    }
}

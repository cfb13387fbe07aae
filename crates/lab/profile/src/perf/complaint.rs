//! Error messages of `perf`, and how to fix their causes.

use lab_observation::{Kernel, Profiler};
use lab_system::System;

use super::{
    super::{Obstacle, program::gist},
    Complaint,
};

impl Complaint {
    /// Whether `perf` may not lock as much memory as it was told to use.
    pub(super) fn is_about_memory(&self) -> bool {
        self.says(&["mapping pages", "mmap_pages", "mmap with"])
    }

    fn says(&self, signs: &[&str]) -> bool {
        matches!(self, Self::Exited(message) if signs.iter().any(|sign| message.contains(sign)))
    }

    /// The complaint in words, with the fix for this system.
    pub(super) fn explain(&self, system: &System, profiler: Profiler) -> Obstacle {
        let Self::Exited(message) = self else { return Obstacle::new(self.to_string()) };
        if self.is_about_memory() {
            let reason =
                "`perf` may not lock enough memory for its buffers (`perf_event_mlock_kb`)";
            return Obstacle::new(reason).fix("sudo sysctl kernel.perf_event_mlock_kb=65536");
        }
        if self.says(&["not found for kernel"]) {
            let reason = format!("`perf` belongs to another kernel: {}", gist(message));
            return Obstacle::new(reason)
                .fix("install your kernel's, as `linux-tools-$(uname -r)`");
        }
        if self.says(&["Function not implemented"]) {
            return Obstacle::new("this kernel, or the sandbox on top of it, has no perf events");
        }
        if self.says(&["perf_event_paranoid", "Permission denied", "Operation not permitted"]) {
            return refused(system, profiler);
        }
        Obstacle::new(self.to_string())
            .fix("run `perf record -p PID` by hand, or `just lab doctor`, to see more")
    }
}

/// The kernel refuses: by its setting, or because of a container or a policy.
pub fn refused(system: &System, profiler: Profiler) -> Obstacle {
    let permitted = if profiler.kernel == Kernel::Frames { 1 } else { 2 };
    let level = system.number("proc/sys/kernel/perf_event_paranoid");
    match level {
        Some(level) if level > permitted => {
            let keeps = match profiler.kernel {
                Kernel::Frames => "keeps `perf` out of the kernel",
                _ => "lets only root use `perf`",
            };
            let reason = format!("kernel.perf_event_paranoid is {level}, which {keeps}");
            Obstacle::new(reason).fix(
                "sudo sysctl kernel.perf_event_paranoid=1 (in a container: on its host, or start it \
                 with `--cap-add=PERFMON`)",
            )
        }
        _ => {
            let level = level.map_or("unknown".to_owned(), |level| level.to_string());
            Obstacle::new(format!(
                "the kernel refuses perf events (EPERM) though perf_event_paranoid is {level}, as \
                 it does in a container"
            ))
            .fix(
                "start the container with `--cap-add=PERFMON`, with an old Docker also \
                 `--security-opt seccomp=unconfined`",
            )
        }
    }
}

//! Linux `perf`: samples of all threads, unwound through the whole stack.

mod complaint;
mod control;
mod lines;
mod recorder;
mod script;
mod unwinder;

use std::time::Duration;

use lab_observation::{Kernel, Profiler};
use lab_system::{Program, ProgramError, ProgramFailure, System, doctor::INSTALL_PERF};

use super::{
    Obstacle, PATIENCE, Process, Profilers, ReadingFuture, SamplingFuture, SamplingMethod,
    program::{self, gist},
    window,
};
use recorder::Recorder;

pub use control::{Complaint, PerfControl};

/// How long the server's CPU time is watched, to know how large its recording will be.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// Needs `kernel.perf_event_paranoid` at 1 or lower.
pub const WITH_KERNEL: Perf = Perf {
    profiler: Profiler {
        name: "perf-with-kernel",
        label: "perf, with kernel frames",
        kernel: Kernel::Frames,
    },
};
/// Needs it at 2 or lower.
pub const USER_ONLY: Perf = Perf {
    profiler: Profiler {
        name: "perf-user-only",
        label: "perf, user frames only",
        kernel: Kernel::Missing,
    },
};

#[derive(Debug)]
pub struct Perf {
    profiler: Profiler,
}

impl SamplingMethod for Perf {
    fn profiler(&self) -> Profiler {
        self.profiler
    }

    /// Lets `perf` count the same event with the same rights for a moment. Anything else that recording
    /// needs, such as memory for its buffers, shows only when it records.
    fn look(&self, system: &System, _: bool) -> Result<bool, Obstacle> {
        if !system.has("proc/self") {
            return Ok(false);
        }
        let Some(perf) = system.program("perf") else {
            return Err(Obstacle::new("`perf` is missing").fix(INSTALL_PERF));
        };
        // Every machine has the timer. With `:k` or `:u`, `perf` does not fall back to the other.
        let is_whole = self.profiler.kernel == Kernel::Frames;
        let event = if is_whole { "cpu-clock:k" } else { "cpu-clock:u" };
        let mut count = program::command(&perf);
        count.args(["stat", "--log-fd", "1", "-x", ",", "-e", event, "true"]);
        let counted = match Program::new(count, PATIENCE).named("`perf`").wait() {
            Ok(counted) => String::from_utf8_lossy(&counted).into_owned(),
            Err(ProgramError { why: ProgramFailure::Failed { messages, .. }, .. }) => {
                let complaint = Complaint::Exited(messages.unwrap_or_default());
                return Err(complaint.explain(system, self.profiler));
            }
            Err(error) => return Err(error.into()),
        };
        let is_count = |line: &str| {
            let (count, rest) = line.split_once(',').unwrap_or_default();
            count.parse::<f64>().is_ok() && rest.contains("cpu-clock")
        };
        if counted.lines().any(is_count) {
            Ok(true)
        } else {
            let reason = format!("`perf` counts nothing: {}", gist(&counted));
            Err(Obstacle::new(reason).fix("just lab doctor"))
        }
    }

    /// Attaches and samples for the window; then has `perf` write its file, and reads it.
    fn sample<'a>(&'a self, profilers: &'a Profilers, process: Process<'a>) -> SamplingFuture<'a> {
        Box::pin(async move {
            let (pid, length) = (process.pid, process.window);
            let cores = window::pass(pid, FIRST_LOOK).await?.cores();
            let unwinder = profilers.unwinder.unwrap_or_else(|| unwinder::unwinder(pid));
            let recorder = Recorder {
                program: profilers.program("perf")?,
                profiler: self.profiler,
                unwinder,
                // Half as much again, in case the load is still warming up.
                rate: unwinder::rate(unwinder, cores.map(|cores| 1.5 * cores), length),
                system: &profilers.system,
                patience: profilers.patience,
            };
            let file = process.dir.join(format!("{}.perf.data", process.name));
            let mut perf = recorder.attach(pid, &file).await?;
            let window = match recorder.enabled(&mut perf, pid, length).await {
                Ok(window) => window?,
                Err(complaint) => return Err(recorder.explain(pid, complaint).await),
            };
            let reading: ReadingFuture<'a> = Box::pin(async move {
                recorder.write_names(pid).await;
                if let Err(complaint) = perf.finish().await {
                    return Err(recorder.explain(pid, complaint).await);
                }
                recorder.read(file, window).await.map(Some)
            });
            Ok(reading)
        })
    }
}

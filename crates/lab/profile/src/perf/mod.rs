//! Linux `perf`: samples of all threads, unwound through the whole stack.

mod complaint;
mod control;
mod script;
mod unwinder;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use lab_observation::{Kernel, Profiler, Recording, Unwinder, Window};
use lab_system::{System, doctor::INSTALL_PERF, process};
use tokio::process::Command;

use super::{
    Failure, Obstacle, Profile, Profilers, Reading, Sampling, Subject,
    program::{self, gist},
    window,
};
pub use control::{Complaint, Control};

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

impl Profile for Perf {
    fn profiler(&self) -> Profiler {
        self.profiler
    }

    /// Lets `perf` count the same event with the same rights for a moment. Anything else that recording
    /// needs, such as memory for its buffers, shows only when it records.
    fn look(&self, system: &System, _: bool) -> Result<bool, Obstacle> {
        if !system.has("proc/self") {
            return Ok(false);
        }
        if system.program("perf").is_none() {
            return Err(Obstacle::new("`perf` is missing").fix(INSTALL_PERF));
        }
        // Every machine has the timer. With `:k` or `:u`, `perf` does not fall back to the other.
        let is_whole = self.profiler.kernel == Kernel::Frames;
        let event = if is_whole { "cpu-clock:k" } else { "cpu-clock:u" };
        let Some(counted) = system.run("perf", &["stat", "-x", ",", "-e", event, "true"]) else {
            return Err(Obstacle::new("`perf stat true` does not end").fix("just doctor"));
        };
        let message = String::from_utf8_lossy(&counted.stderr).into_owned();
        if !counted.status.success() {
            return Err(Complaint::Exited(message).explain(system, self.profiler));
        }
        let is_count = |line: &str| {
            let (count, rest) = line.split_once(',').unwrap_or_default();
            count.parse::<f64>().is_ok() && rest.contains("cpu-clock")
        };
        match message.lines().any(is_count) {
            true => Ok(true),
            false => {
                let reason = format!("`perf` counts nothing: {}", gist(&message));
                Err(Obstacle::new(reason).fix("just doctor"))
            }
        }
    }

    /// Attaches and samples for the window; then has `perf` write its file, and reads it.
    fn sample<'a>(
        &'a self,
        profilers: &'a Profilers,
        subject: Subject<'a>,
        length: Duration,
    ) -> Sampling<'a> {
        Box::pin(async move {
            let pid = subject.pid;
            let cores = window::pass(pid, FIRST_LOOK).await?.cores();
            let unwinder = profilers.unwinder.unwrap_or_else(|| unwinder::unwinder(pid));
            let recorder = Recorder {
                program: profilers.program("perf")?,
                profiler: self.profiler,
                unwinder,
                // Half as much again, in case the load is still warming up.
                rate: unwinder::rate(unwinder, cores.map(|it| 1.5 * it), length),
                system: &profilers.system,
                patience: profilers.patience,
            };
            let file = subject.dir.join(format!("{}.perf.data", subject.name));
            let mut perf = recorder.attach(pid, &file).await?;
            let window = match recorder.enabled(&mut perf, pid, length).await {
                Ok(window) => window?,
                Err(complaint) => return Err(recorder.explain(pid, complaint).await),
            };
            let reading: Reading<'a> = Box::pin(async move {
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

/// One recording.
struct Recorder<'a> {
    program: PathBuf,
    profiler: Profiler,
    unwinder: Unwinder,
    /// Samples per second and thread.
    rate: u32,
    system: &'a System,
    patience: Duration,
}

impl Recorder<'_> {
    /// Lets `perf` record for the window, unless it or the server dies.
    async fn enabled(
        &self,
        perf: &mut Control,
        pid: u32,
        length: Duration,
    ) -> Result<Result<Window, Failure>, Complaint> {
        perf.command("enable").await?;
        let window = tokio::select! {
            window = window::pass(pid, length) => window,
            message = perf.exited() => return Err(Complaint::Exited(message)),
        };
        if window.is_ok() {
            perf.command("disable").await?;
        }
        Ok(window)
    }

    /// Has processes write the names of the code that they compiled while they ran. Without them the code
    /// has no names, and a notice says so.
    async fn write_names(&self, pid: u32) {
        for (pid, language) in unwinder::languages(pid) {
            let [program, args @ ..] = &language.write_names[..] else { continue };
            let Some(path) = self.system.program(program) else { continue };
            let mut command = program::command(&path);
            command.args(args.iter().map(|arg| arg.replace("{pid}", &pid.to_string())));
            let _ = program::read_lines(&mut command, program, self.patience, |_| Ok(())).await;
        }
    }

    /// Attaches without recording yet: with compression and large buffers, as far as this `perf` and
    /// the system allow.
    async fn attach(&self, pid: u32, file: &Path) -> Result<Control, Failure> {
        let pids = process::pids(pid);
        let (mut compressed, mut roomy) = (true, true);
        loop {
            let command = self.command(&pids, file, compressed, roomy);
            match Control::start(command, self.patience).await {
                Ok(perf) => return Ok(perf),
                Err(complaint) if compressed && complaint.is_about_compression() => {
                    compressed = false;
                }
                Err(complaint) if roomy && complaint.is_about_memory() => roomy = false,
                Err(complaint) => return Err(self.explain(pid, complaint).await),
            }
        }
    }

    fn command(&self, pids: &[u32], file: &Path, compressed: bool, roomy: bool) -> Command {
        let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
        let mut command = program::command(&self.program);
        command.args(["record", "-F", &self.rate.to_string()]);
        if compressed {
            // Most of a copied stack is zeros.
            command.arg("-z");
        }
        if roomy {
            // A quarter of a second of samples for each core, in which `perf` may wait for its turn.
            // The default holds at most eight samples.
            command.args(["-m", "8M"]);
        }
        if self.profiler.kernel == Kernel::Missing {
            command.args(["-e", "cycles:u"]);
        }
        command.args(["--call-graph", unwinder::call_graph(self.unwinder)]);
        command.args(["--delay=-1", "--control", "fd:0,1"]);
        command.arg("-p").arg(pids.join(",")).arg("-o").arg(file);
        command
    }

    /// A complaint as a failure. If the server is dead, it is the server's.
    async fn explain(&self, pid: u32, complaint: Complaint) -> Failure {
        match window::ensure_alive_for_a_while(pid).await {
            Err(dead) => dead,
            Ok(()) => complaint.explain(self.system, self.profiler).into(),
        }
    }

    async fn read(&self, file: PathBuf, window: Window) -> Result<Recording, Failure> {
        // Unwinding thousands of stacks takes longer than sampling them.
        let patience = 4 * self.patience;
        let mut script = program::command(&self.program);
        script.args(["script", "--no-inline", "--show-lost-events", "-F"]);
        script.args(["period,event,ip,sym,dso", "-i"]).arg(&file);
        let mut read = script::Script::default();
        program::read_lines(&mut script, "perf script", patience, |line| read.line(line)).await?;
        read.end();
        if self.profiler.kernel == Kernel::Frames && read.is_confined() {
            // `perf` keeps out of the kernel silently where it lacks the rights.
            return Err(complaint::refused(self.system, self.profiler).into());
        }
        let mut stats = program::command(&self.program);
        stats.args(["report", "--stats", "-i"]).arg(&file);
        let mut counted = script::Lost::default();
        let what = "perf report --stats";
        let count = |line: &str| {
            counted.line(line);
            Ok(())
        };
        // An old `perf` lacks this count; the notes in the script are enough then.
        let _ = program::read_lines(&mut stats, what, patience, count).await;
        let lost = read.lost.max(counted.samples);
        let sampled_cpu = read.cpu_time(self.rate);
        let recording = Recording::new(self.profiler, read.stacks, window);
        let taken = (recording.samples + lost).max(1);
        Ok(Recording {
            unwinder: Some(self.unwinder),
            lost_share: lost as f64 / taken as f64,
            sampled_cpu,
            notices: unwinder::lowered(self.rate).into_iter().collect(),
            ..recording
        })
    }
}

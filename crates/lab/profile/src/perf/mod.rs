//! Linux `perf`: samples of all threads, unwound through the whole stack.

mod complaint;
mod control;
mod script;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::process::Command;

use super::{
    Failure, Obstacle, Subject,
    program::{self, gist},
    unwinder::call_graph,
    window,
};
pub use control::{Complaint, Control};
use lab_observation::{Profiler, Recording, Unwinder, Window};
use lab_system::{System, doctor::INSTALL_PERF, process};

/// Lets `perf` count the same event with the same rights for a moment. Anything else that recording
/// needs, such as memory for its buffers, shows only when it records.
pub fn look(system: &System, profiler: Profiler) -> Result<(), Obstacle> {
    if system.program("perf").is_none() {
        return Err(Obstacle::new("`perf` is missing").fix(INSTALL_PERF));
    }
    // Every machine has the timer. With `:k` or `:u`, `perf` does not fall back to the other.
    let event = if profiler == Profiler::PerfWithKernel { "cpu-clock:k" } else { "cpu-clock:u" };
    let Some(counted) = system.run("perf", &["stat", "-x", ",", "-e", event, "true"]) else {
        return Err(Obstacle::new("`perf stat true` does not end").fix("just doctor"));
    };
    let message = String::from_utf8_lossy(&counted.stderr).into_owned();
    if !counted.status.success() {
        return Err(Complaint::Exited(message).explain(system, profiler));
    }
    let is_count = |line: &str| {
        let (count, rest) = line.split_once(',').unwrap_or_default();
        count.parse::<f64>().is_ok() && rest.contains("cpu-clock")
    };
    match message.lines().any(is_count) {
        true => Ok(()),
        false => {
            Err(Obstacle::new(format!("`perf` counts nothing: {}", gist(&message)))
                .fix("just doctor"))
        }
    }
}

/// `perf`, with or without the kernel.
pub struct Perf<'a> {
    pub program: PathBuf,
    pub profiler: Profiler,
    pub unwinder: Unwinder,
    /// Samples per second and thread.
    pub rate: u32,
    pub system: &'a System,
    pub patience: Duration,
}

impl<'a> Perf<'a> {
    /// Attaches and samples for the window; then has `perf` write its file, and reads it.
    pub async fn sample(
        self,
        subject: Subject<'_>,
        length: Duration,
    ) -> Result<impl Future<Output = Result<Recording, Failure>> + use<'a>, Failure> {
        let pid = subject.pid;
        let file = subject.dir.join(format!("{}.perf.data", subject.name));
        let mut perf = self.attach(pid, &file).await?;
        let explain = |complaint| self.explain(pid, complaint);

        if let Err(complaint) = perf.command("enable").await {
            return Err(explain(complaint).await);
        }
        let window = tokio::select! {
            window = window::pass(pid, length) => window?,
            message = perf.exited() => return Err(explain(Complaint::Exited(message)).await),
        };
        if let Err(complaint) = perf.command("disable").await {
            return Err(explain(complaint).await);
        }
        Ok(async move {
            if let Err(complaint) = perf.finish().await {
                return Err(self.explain(pid, complaint).await);
            }
            self.read(file, window).await
        })
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
        if self.profiler == Profiler::PerfUserOnly {
            command.args(["-e", "cycles:u"]);
        }
        command.args(["--call-graph", call_graph(self.unwinder)]);
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
        if self.profiler == Profiler::PerfWithKernel && read.is_confined() {
            // `perf` keeps out of the kernel silently where it lacks the rights.
            return Err(complaint::refused(self.system, self.profiler).into());
        }
        let mut stats = program::command(&self.program);
        stats.args(["report", "--stats", "-i"]).arg(&file);
        // An old `perf` lacks this count; the notes in the script are enough then.
        let stats = program::run(&mut stats, "perf report --stats", patience).await;
        let lost = read.lost.max(stats.map_or(0, |stats| script::lost_samples(&stats)));
        let sampled_cpu = read.cpu_time(self.rate);
        let recording = Recording::new(self.profiler, read.stacks, window);
        let taken = (recording.samples + lost).max(1);
        Ok(Recording { lost_share: lost as f64 / taken as f64, sampled_cpu, ..recording })
    }
}

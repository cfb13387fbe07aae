//! Linux `perf`: samples of all threads, unwound through the whole stack.

mod attached;
mod complaint;
mod look;
mod lost;
mod script;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;

use super::{
    super::{Recording, Rung},
    Failure, Obstacle, Subject, program, window,
};
use crate::{doctor::System, process};
use attached::Attached;
use complaint::Complaint;
pub(super) use look::look;

/// Samples a second and thread. No divisor of the timers' 100 or 1,000, lest samples keep step with
/// them.
const RATE: u32 = 499;

/// `perf`, on one of its two rungs.
pub(super) struct Perf<'a> {
    pub(super) program: PathBuf,
    pub(super) rung: Rung,
    pub(super) system: &'a System,
}

impl Perf<'_> {
    /// Attaches, records for the window, and reads what was recorded.
    pub(super) async fn record(
        &self,
        subject: &Subject<'_>,
        length: Duration,
        patience: Duration,
    ) -> Result<Recording, Failure> {
        let file = subject.dir.join(format!("{}.perf.data", subject.name));
        fresh(&file).map_err(Failure::Fatal)?;
        let mut perf = self.attach(subject, &file, patience).await?;
        let trouble = |complaint| self.explain(subject.pid, complaint);

        if let Err(complaint) = perf.command("enable").await {
            return Err(trouble(complaint).await);
        }
        let window = tokio::select! {
            window = window::pass(subject.pid, length) => window?,
            complaint = perf.ended() => return Err(trouble(complaint).await),
        };
        if let Err(complaint) = perf.command("disable").await {
            return Err(trouble(complaint).await);
        }
        perf.finish().await?;
        self.read(&file, window, patience).await
    }

    /// Attached and not yet recording: compressed and with large buffers, as far as this `perf` and
    /// the system allow.
    async fn attach(
        &self,
        subject: &Subject<'_>,
        file: &Path,
        patience: Duration,
    ) -> Result<Attached, Failure> {
        let pids = process::pids(subject.pid);
        let (mut compressed, mut roomy) = (true, true);
        loop {
            let command = self.command(&pids, file, compressed, roomy);
            match Attached::start(command, patience).await {
                Ok(perf) => return Ok(perf),
                Err(complaint) if compressed && complaint.is_about_compression() => {
                    compressed = false;
                }
                Err(complaint) if roomy && complaint.is_about_memory() => roomy = false,
                Err(complaint) => return Err(self.explain(subject.pid, complaint).await),
            }
        }
    }

    fn command(
        &self,
        pids: &[u32],
        file: &Path,
        compressed: bool,
        roomy: bool,
    ) -> tokio::process::Command {
        let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
        let mut command = program::command(&self.program);
        command.args(["record", "-F", &RATE.to_string()]);
        if compressed {
            // Most of a stack's copy is zeros.
            command.arg("-z");
        }
        if roomy {
            // A quarter of a second for each core, in which `perf` may wait for its turn. Its default
            // holds no more than eight samples.
            command.args(["-m", "8M"]);
        }
        if self.rung == Rung::PerfUserOnly {
            command.args(["-e", "cycles:u"]);
        }
        // The most that perf copies of a stack: its default of 8 KiB cuts nearly all stacks of an
        // async server.
        command.args(["--call-graph", "dwarf,65528", "--delay=-1", "--control", "fd:0,1"]);
        command.arg("-p").arg(pids.join(",")).arg("-o").arg(file);
        command
    }

    /// A complaint as a failure: the server's, if it is dead.
    async fn explain(&self, pid: u32, complaint: Complaint) -> Failure {
        match window::ensure_alive_for_a_while(pid).await {
            Err(dead) => dead,
            Ok(()) => complaint.explain(self.system, self.rung).into(),
        }
    }

    /// Turns the file into stacks.
    async fn read(
        &self,
        file: &Path,
        window: window::Window,
        patience: Duration,
    ) -> Result<Recording, Failure> {
        // Unwinding takes longer than sampling: thousands of stacks a second.
        let patience = 4 * patience;
        let path = file.display().to_string();
        let script =
            ["script", "--no-inline", "--show-lost-events", "-F", "period,event,ip,sym,dso"];
        let mut command = program::command(&self.program);
        command.args(script).args(["-i", &path]);
        let text = program::run(&mut command, "perf script", patience).await?.out;
        let read = script::Script::read(&text).map_err(|error| {
            Obstacle::new(format!("what `perf script` prints is odd: {error:#}"))
        })?;
        if self.rung == Rung::PerfWithKernel && read.is_confined() {
            // It does so by itself where it may not look into the kernel.
            return Err(complaint::refused(self.system, self.rung).into());
        }
        let lost = lost::count(&self.program, &path, &text, patience).await?;
        let taken = read.samples + lost;
        Ok(Recording {
            rung: self.rung,
            samples: read.samples,
            rooted_share: read.rooted_share(),
            lost_share: if taken == 0 { 0.0 } else { lost as f64 / taken as f64 },
            sampled_cpu: read.cpu_time(RATE),
            system_cpu: window.system_cpu,
            window: window.length,
            file: Some(file.to_owned()),
            by_timer: read.is_timer(),
            notices: read.notices(),
            stacks: read.stacks,
        })
    }
}

/// Makes room for a file: `perf` would keep the old one beside it.
fn fresh(file: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot replace {}", file.display()))
        }
        _ => Ok(()),
    }
}

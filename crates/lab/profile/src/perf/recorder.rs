//! One recording of `perf`: attach, sample, write the file, read it.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use lab_observation::{Inlined, Kernel, Profiler, Recording, Unwinder, Window, inlined};
use lab_system::{Program, System, process};

use super::{
    super::{Failure, Obstacle, program, window},
    Complaint, PerfControl, complaint,
    lines::Lines,
    script, unwinder,
};

/// How one recording is made.
pub struct Recorder<'a> {
    pub program: PathBuf,
    pub profiler: Profiler,
    pub unwinder: Unwinder,
    /// Samples per second and thread.
    pub rate: u32,
    pub system: &'a System,
    pub patience: Duration,
}

impl Recorder<'_> {
    /// Lets `perf` record for the window, unless it or the server dies.
    pub async fn enabled(
        &self,
        perf: &mut PerfControl,
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
    /// has no names, and a note says so.
    pub async fn write_names(&self, pid: u32) {
        for (pid, language) in unwinder::languages(pid) {
            let [program, args @ ..] = &language.write_names[..] else { continue };
            let Some(path) = self.system.program(program) else { continue };
            let mut command = program::command(&path);
            command.args(args.iter().map(|arg| arg.replace("{pid}", &pid.to_string())));
            let _ = Program::new(command, self.patience).output().await;
        }
    }

    /// Attaches without recording yet: with large buffers, if the system allows them.
    pub async fn attach(&self, pid: u32, file: &Path) -> Result<PerfControl, Failure> {
        let pids = process::lasting_pids(pid).await;
        let mut roomy = true;
        loop {
            let command = self.command(&pids, file, roomy);
            match PerfControl::start(command, self.patience).await {
                Ok(perf) => return Ok(perf),
                Err(complaint) if roomy && complaint.is_about_memory() => roomy = false,
                Err(complaint) => return Err(self.explain(pid, complaint).await),
            }
        }
    }

    fn command(&self, pids: &[u32], file: &Path, roomy: bool) -> Command {
        let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
        let mut command = program::command(&self.program);
        // Not `-z`, although most of a copied stack is zeros: some versions can't read what they compressed.
        command.args(["record", "-F", &self.rate.to_string()]);
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
    pub async fn explain(&self, pid: u32, complaint: Complaint) -> Failure {
        match window::ensure_alive_for_a_while(pid).await {
            Err(dead) => dead,
            Ok(()) => complaint.explain(self.system, self.profiler).into(),
        }
    }

    pub async fn read(&self, file: PathBuf, window: Window) -> Result<Recording, Failure> {
        // Unwinding thousands of stacks takes longer than sampling them.
        let patience = 4 * self.patience;
        let mut script = program::command(&self.program);
        script.args(["script", "--no-inline", "--show-lost-events", "-F"]);
        script.args(["period,event,ip,sym,dso", "-i"]).arg(&file);
        let mut read = script::Script::default();
        let script = Program::new(script, patience).named("`perf script`");
        script.lines(|line| read.line(line)).await.map_err(Obstacle::from)?;
        read.end();
        if self.profiler.kernel == Kernel::Frames && read.is_confined() {
            // `perf` keeps out of the kernel silently where it lacks the rights.
            return Err(complaint::refused(self.system, self.profiler).into());
        }
        let mut stats = program::command(&self.program);
        stats.args(["report", "--stats", "-i"]).arg(&file);
        let mut counted = 0;
        let count = |line: &str| {
            counted += script::lost_samples(line);
            Ok(())
        };
        // An old `perf` lacks this count; the notes in the script are enough then.
        let _ = Program::new(stats, patience).lines(count).await;
        let inlined = match inlined(&read.stacks) {
            Some(symbol) => self.inlined(&file, symbol).await,
            None => None,
        };
        let lost = read.lost.max(counted);
        let sampled_cpu = read.cpu_time(self.rate);
        let recording = Recording::new(self.profiler, read.stacks, window);
        let taken = (recording.samples + lost).max(1);
        Ok(Recording {
            unwinder: Some(self.unwinder),
            lost_share: lost as f64 / taken as f64,
            sampled_cpu,
            inlined,
            notes: unwinder::lowered(self.rate).into_iter().collect(),
            ..recording
        })
    }

    /// The line of the program's own source in which this function spends most of its own time, if the program was
    /// built with line tables.
    async fn inlined(&self, file: &Path, symbol: &str) -> Option<Inlined> {
        let mut script = program::command(&self.program);
        // More frames of each stack would take minutes.
        script.args(["script", "--inline", "--max-stack", "1", "--full-source-path"]);
        script.args(["-F", "ip,sym,srcline", "-i"]).arg(file);
        let mut lines = Lines::of(symbol);
        let read = |line: &str| {
            lines.read(line);
            Ok(())
        };
        // Without it, the function is named and its line is not.
        Program::new(script, self.patience).lines(read).await.ok()?;
        Some(Inlined { symbol: symbol.to_owned(), line: lines.busiest()? })
    }
}

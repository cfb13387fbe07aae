//! Profiles a running server: from a process id to its stacks and to the states of its threads.
//!
//! [`Profilers`] samples the stacks of one process with the best profiler that works here, and reads
//! them afterwards. [`watch_threads`] looks at every thread, [`watch_files`] at open files. Nothing here starts a
//! server or puts load on it: the caller does.

#![warn(clippy::missing_errors_doc)]

mod files;
mod heap;
mod in_process;
mod none;
mod perf;
mod program;
#[cfg(test)]
mod tests;
mod threads;
mod window;

use std::{
    fmt,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use anyhow::Context as _;
use lab_observation::{Profiler, Recording, Unwinder};
use lab_system::System;

pub use files::{OpenedFile, open_files, watch_files};
pub use heap::Heaptrack;
pub use in_process::{Fetching, Sampler};
pub use perf::PerfControl;
pub use threads::watch_threads;

/// All profilers, the one that sees most first. A new one is a file and a line here.
const ALL: [&dyn SamplingMethod; 4] =
    [&perf::WITH_KERNEL, &perf::USER_ONLY, &in_process::InProcess, &none::None];

/// A way to sample a running process.
trait SamplingMethod: fmt::Debug + Sync {
    fn profiler(&self) -> Profiler;

    /// Tries what can be tried without a server, and blocks for that long. False if it has no place
    /// here, about which a reader can do nothing. `has_sampler` says whether the servers have the
    /// in-process sampler.
    fn look(&self, system: &System, has_sampler: bool) -> Result<bool, Obstacle>;

    /// Samples a server for its window, and returns as soon as that has passed.
    fn sample<'a>(&'a self, profilers: &'a Profilers, process: Process<'a>) -> SamplingFuture<'a>;
}

/// How long a profiler may take to obey or to exit. Reading what it wrote may take four times as long.
const PATIENCE: Duration = Duration::from_secs(15);

/// The process to record.
#[derive(Clone, Copy)]
pub struct Process<'a> {
    /// The process; its children are recorded too.
    pub pid: u32,
    /// How to ask it, if it has the in-process sampler.
    pub sampler: Option<&'a Sampler<'a>>,
    /// Where the profiler's own file goes.
    pub dir: &'a Path,
    /// The first part of that file's name: `slow` for `slow.perf.data`.
    pub name: &'a str,
    /// How long to record it.
    pub window: Duration,
}

/// Why a profiler does not work: one sentence, and how to fix it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Obstacle(String);

impl Obstacle {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// `fix` is a command or an option, ready to be copied.
    fn fix(self, fix: impl fmt::Display) -> Self {
        Self(format!("{}; fix: {fix}", self.0))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why there is no recording.
#[derive(Debug)]
pub enum Failure {
    /// The profiler failed. Another one may work: record all servers again with that.
    Profiler(Obstacle),
    /// The server or the disk failed, and would fail with any profiler.
    Fatal(anyhow::Error),
}

impl From<Obstacle> for Failure {
    fn from(obstacle: Obstacle) -> Self {
        Self::Profiler(obstacle)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Fatal(error)
    }
}

/// Ends with the window that is recorded.
type SamplingFuture<'a> = Pin<Box<dyn Future<Output = Result<ReadingFuture<'a>, Failure>> + 'a>>;
/// Reads what a profiler has sampled of a server, which still has to run; `None` without a profiler.
///
/// Wait for it when nothing is measured any more: it takes longer than sampling, and uses the server's
/// own CPU time with the in-process sampler.
pub type ReadingFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<Recording>, Failure>> + 'a>>;

/// The profilers that may work here, and those that cannot.
#[derive(Clone, Debug)]
pub struct Profilers {
    usable: Vec<Profiler>,
    unusable: Vec<(Profiler, Obstacle)>,
    /// How `perf` finds callers, instead of the way that suits the server's language.
    pub unwinder: Option<Unwinder>,
    system: System,
    patience: Duration,
    watchdog: Duration,
}

impl Profilers {
    /// Tries everything that can be tried without a server: `perf` counts once with the rights that
    /// recording needs. Blocks for that long.
    pub fn look(system: System, has_sampler: bool) -> Self {
        let (mut usable, mut unusable) = (Vec::new(), Vec::new());
        for profile in ALL {
            match profile.look(&system, has_sampler) {
                Ok(true) => usable.push(profile.profiler()),
                Ok(false) => {}
                Err(obstacle) => unusable.push((profile.profiler(), obstacle)),
            }
        }
        // An obstacle to both ways to use `perf` is one.
        unusable.dedup_by(|next, first| next.1 == first.1);
        let (patience, watchdog) = (PATIENCE, in_process::WATCHDOG);
        Self { usable, unusable, unwinder: None, system, patience, watchdog }
    }

    /// All profilers, whether they work here or not.
    pub fn all() -> impl Iterator<Item = Profiler> {
        ALL.into_iter().map(SamplingMethod::profiler)
    }

    /// The profilers to try, best first. The last one needs nothing.
    pub fn usable(&self) -> &[Profiler] {
        &self.usable
    }

    /// The others, each with its obstacle. An obstacle to several profilers is listed once.
    pub fn unusable(&self) -> &[(Profiler, Obstacle)] {
        &self.unusable
    }

    /// Samples a server for its window, and returns as soon as that has passed.
    ///
    /// # Errors
    ///
    /// If the profiler does not work here, or if the server exits. Reading the recording may fail, too.
    pub async fn sample<'a>(
        &'a self,
        profiler: Profiler,
        process: Process<'a>,
    ) -> Result<ReadingFuture<'a>, Failure> {
        let profile = ALL.into_iter().find(|profile| profile.profiler() == profiler);
        let profile = profile.with_context(|| format!("there is no profiler {profiler}"))?;
        let reading = profile.sample(self, process).await?;
        Ok(Box::pin(async { Ok(reading.await?.map(Recording::with_notes)) }))
    }

    fn program(&self, name: &str) -> Result<PathBuf, Obstacle> {
        self.system.program(name).ok_or_else(|| Obstacle::new(format!("`{name}` is missing")))
    }
}

//! Profilers: record where a running process spends its CPU time, with the best one that works here.

mod in_process;
mod perf;
mod program;
mod recording;
mod roots;
mod samply;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod window;

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use http::Uri;
use serde::{Deserialize, Serialize};

use lab_doctor::System;

pub use perf::Control;
pub use recording::Recording;

/// How long a profiler may take to obey or to exit. Reading what it wrote may take four times as long.
const PATIENCE: Duration = Duration::from_secs(15);

/// A way to see where CPU time goes, the one that sees most first. Compare two pictures only if the
/// same profiler made both: each sees something that the next one misses.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Profiler {
    /// Linux `perf`, with the frames of the kernel
    PerfWithKernel,
    /// Linux `perf`, confined to the process's own code
    PerfUserOnly,
    /// `samply`, on Linux or macOS
    Samply,
    /// A sampler in the server itself, driven by a timer signal
    InProcess,
    /// No profiler: CPU time of the whole process, and spans
    None,
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerfWithKernel => "perf, with kernel frames",
            Self::PerfUserOnly => "perf, user frames only",
            Self::Samply => "samply",
            Self::InProcess => "in-process sampler, user frames only",
            Self::None => "no profiler",
        })
    }
}

/// The process to record.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The process; its children are recorded too.
    pub pid: u32,
    /// Its address, if it has the in-process sampler.
    pub url: Option<&'a Uri>,
    /// Where the profiler's own file goes.
    pub dir: &'a Path,
    /// The first part of that file's name: `slow` for `slow.perf.data`.
    pub name: &'a str,
}

/// Why a profiler does not work: one sentence, and how to fix it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Obstacle {
    pub reason: String,
    /// A command or an option, ready to be copied.
    pub fix: Option<String>,
}

impl Obstacle {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fix: None }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fix {
            Some(fix) => write!(f, "{}; fix: {fix}", self.reason),
            None => f.write_str(&self.reason),
        }
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

/// What a profiler sampled, not read yet.
#[derive(Debug)]
pub struct Samples {
    profiler: Profiler,
    pid: u32,
    taken: Taken,
}

#[derive(Debug)]
enum Taken {
    Perf(perf::Taken),
    Samply(samply::Taken),
    InProcess(in_process::Taken),
    Nothing,
}

/// The profilers that may work here, and those that cannot.
#[derive(Clone, Debug)]
pub struct Profilers {
    usable: Vec<Profiler>,
    unusable: Vec<(Profiler, Obstacle)>,
    system: System,
    patience: Duration,
    watchdog: Duration,
}

impl Profilers {
    /// Tries everything that can be tried without a server: `perf` counts once with the rights that
    /// recording needs. Blocks for that long.
    ///
    /// `has_sampler` says whether the servers have the in-process sampler.
    pub fn look(system: System, has_sampler: bool) -> Self {
        let mut found = Self {
            usable: Vec::new(),
            unusable: Vec::new(),
            system,
            patience: PATIENCE,
            watchdog: in_process::WATCHDOG,
        };
        let is_linux = found.system.has("proc/self");
        if is_linux {
            found.look_for_perf(Profiler::PerfWithKernel);
            if found.usable.is_empty() {
                found.look_for_perf(Profiler::PerfUserOnly);
                // Report an obstacle for both only once.
                found.unusable.dedup_by(|next, first| next.1 == first.1);
            } else {
                found.usable.push(Profiler::PerfUserOnly);
            }
        }
        if found.system.program("samply").is_some() {
            found.usable.push(Profiler::Samply);
        } else if !is_linux {
            // On Linux, `perf` is the one to install.
            let obstacle = Obstacle::new("`samply` is missing").fix(samply::INSTALL);
            found.unusable.push((Profiler::Samply, obstacle));
        }
        if has_sampler {
            found.usable.push(Profiler::InProcess);
        }
        found.usable.push(Profiler::None);
        found
    }

    fn look_for_perf(&mut self, profiler: Profiler) {
        match perf::look(&self.system, profiler) {
            Ok(()) => self.usable.push(profiler),
            Err(obstacle) => self.unusable.push((profiler, obstacle)),
        }
    }

    /// The profilers to try, best first. Ends with [`Profiler::None`].
    pub fn usable(&self) -> &[Profiler] {
        &self.usable
    }

    /// The others, each with its obstacle. An obstacle to several profilers is listed once.
    pub fn unusable(&self) -> &[(Profiler, Obstacle)] {
        &self.unusable
    }

    /// Samples a server for as long as `window`.
    ///
    /// Returns as soon as that has passed: [`Profilers::read`] takes longer than the window, and uses
    /// the server's own CPU time with the in-process sampler.
    pub async fn sample(
        &self,
        profiler: Profiler,
        subject: &Subject<'_>,
        window: Duration,
    ) -> Result<Samples, Failure> {
        let taken = match profiler {
            Profiler::PerfWithKernel | Profiler::PerfUserOnly => {
                Taken::Perf(self.perf(profiler)?.sample(subject, window, self.patience).await?)
            }
            Profiler::Samply => {
                Taken::Samply(samply::sample(&self.program("samply")?, subject, window).await?)
            }
            Profiler::InProcess => {
                Taken::InProcess(in_process::sample(subject, window, self.watchdog).await?)
            }
            Profiler::None => {
                window::pass(subject.pid, window).await?;
                Taken::Nothing
            }
        };
        Ok(Samples { profiler, pid: subject.pid, taken })
    }

    /// Reads the samples of a server, which still has to run; `None` if there was no profiler.
    pub async fn read(&self, samples: Samples) -> Result<Option<Recording>, Failure> {
        let Samples { profiler, pid, taken } = samples;
        let recording = match taken {
            Taken::Perf(taken) => self.perf(profiler)?.read(pid, taken, self.patience).await?,
            Taken::Samply(taken) => samply::read(pid, taken, self.patience).await?,
            Taken::InProcess(taken) => in_process::read(pid, taken, self.watchdog).await?,
            Taken::Nothing => return Ok(None),
        };
        Ok(Some(recording.with_notices()))
    }

    fn perf(&self, profiler: Profiler) -> Result<perf::Perf<'_>, Obstacle> {
        Ok(perf::Perf { program: self.program("perf")?, profiler, system: &self.system })
    }

    fn program(&self, name: &str) -> Result<PathBuf, Obstacle> {
        self.system.program(name).ok_or_else(|| Obstacle::new(format!("`{name}` is missing")))
    }
}

//! Profiles a running server: from a process id to its stacks and to the states of its threads.
//!
//! [`Profilers`] samples the stacks of one process with the best profiler that works here, and reads
//! them afterwards. [`watch_threads`] looks at every thread. Nothing here starts a server or puts load
//! on it: the caller does.

mod in_process;
mod jvm;
mod perf;
mod program;
mod samply;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod threads;
mod unwinder;
mod window;

use std::{
    fmt,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use lab_observation::{Profiler, Recording, Trial, Unwinder};
use lab_system::System;
use unwinder::{RATE, TRIAL, all_cores, call_graph};

pub use in_process::{Fetched, Sampler};
pub use perf::Control;
pub use threads::watch_threads;

/// How long a profiler may take to obey or to exit. Reading what it wrote may take four times as long.
const PATIENCE: Duration = Duration::from_secs(15);

/// The process to record.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The process; its children are recorded too.
    pub pid: u32,
    /// How to ask it, if it has the in-process sampler.
    pub sampler: Option<&'a Sampler<'a>>,
    /// Where the profiler's own file goes.
    pub dir: &'a Path,
    /// The first part of that file's name: `slow` for `slow.perf.data`.
    pub name: &'a str,
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

/// Reads what a profiler has sampled of a server, which still has to run; `None` without a profiler.
///
/// Wait for it when nothing is measured any more: it takes longer than sampling, and uses the server's
/// own CPU time with the in-process sampler.
pub type Reading<'a> = Pin<Box<dyn Future<Output = Result<Option<Recording>, Failure>> + 'a>>;

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
        } else if found.usable.is_empty() {
            // On Linux, `perf` is the better one to install.
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

    /// Records a loaded server for half a second with each unwinder of `perf`, for [`Self::sample`].
    /// Takes a few seconds, because it reads both.
    ///
    /// All servers of a comparison need the same unwinder: `chosen` is that of the first.
    pub async fn try_unwinders(
        &self,
        profiler: Profiler,
        subject: Subject<'_>,
        chosen: Option<Unwinder>,
    ) -> Result<Trial, Failure> {
        let (mut whole, mut cores) = ([None; 2], 0.0_f64);
        for (whole, unwinder) in whole.iter_mut().zip([Unwinder::FramePointers, Unwinder::Dwarf]) {
            let name = &format!("{}.{}", subject.name, call_graph(unwinder));
            let perf = self.perf(profiler, unwinder, RATE)?;
            let tried = perf.sample(Subject { name, ..subject }, TRIAL).await?.await?;
            cores = cores.max(tried.cores().unwrap_or_else(all_cores));
            *whole = tried.rooted_share;
        }
        // Half as much again, in case the load was still warming up.
        Ok(Trial::new(whole, all_cores().min(1.5 * cores), chosen))
    }

    /// Samples a server for as long as `window`, and returns as soon as that has passed. Without a
    /// trial, `perf` unwinds by DWARF.
    pub async fn sample<'a>(
        &'a self,
        profiler: Profiler,
        subject: Subject<'a>,
        window: Duration,
        trial: Option<Trial>,
    ) -> Result<Reading<'a>, Failure> {
        Ok(match profiler {
            Profiler::PerfWithKernel | Profiler::PerfUserOnly => {
                let unwinder = trial.map_or(Unwinder::Dwarf, |trial| trial.unwinder);
                let rate =
                    unwinder::rate(unwinder, trial.map_or_else(all_cores, |it| it.cores), window);
                let reading = self.perf(profiler, unwinder, rate)?.sample(subject, window).await?;
                noticing(async move {
                    jvm::write_names(&self.system, subject.pid, self.patience).await;
                    let mut recording = Recording { trial, ..reading.await? };
                    recording.notices.extend(unwinder::lowered(rate));
                    Ok(recording)
                })
            }
            Profiler::Samply => {
                let samply = self.program("samply")?;
                noticing(samply::sample(&samply, subject, window, self.patience).await?)
            }
            Profiler::InProcess => {
                noticing(in_process::sample(subject, window, self.watchdog).await?)
            }
            Profiler::None => {
                window::pass(subject.pid, window).await?;
                Box::pin(async { Ok(None) })
            }
        })
    }

    fn perf(
        &self,
        profiler: Profiler,
        unwinder: Unwinder,
        rate: u32,
    ) -> Result<perf::Perf<'_>, Obstacle> {
        let (program, system, patience) = (self.program("perf")?, &self.system, self.patience);
        Ok(perf::Perf { program, profiler, unwinder, rate, system, patience })
    }

    fn program(&self, name: &str) -> Result<PathBuf, Obstacle> {
        self.system.program(name).ok_or_else(|| Obstacle::new(format!("`{name}` is missing")))
    }
}

fn noticing<'a>(reading: impl Future<Output = Result<Recording, Failure>> + 'a) -> Reading<'a> {
    Box::pin(async move { Ok(Some(reading.await?.with_notices())) })
}

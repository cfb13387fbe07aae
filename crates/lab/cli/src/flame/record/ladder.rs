//! Which profilers can be used here, the one that sees most first.

use std::{path::PathBuf, time::Duration};

use super::{
    super::{Recording, Rung},
    Failure, Obstacle, Subject, in_process, notices, perf, samply, xctrace,
};
use crate::doctor::System;

/// How long a profiler may take to obey and to end. Reading what it wrote may take longer.
const PATIENCE: Duration = Duration::from_secs(15);

/// The rungs that a first look finds possible, and the others with what is in their way.
///
/// It ends with [`Rung::CountersOnly`], which needs nothing.
#[derive(Clone, Debug)]
pub struct Ladder {
    rungs: Vec<Rung>,
    skipped: Vec<Skipped>,
    system: System,
    patience: Duration,
    watchdog: Duration,
}

/// A rung that cannot be used here.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The rung.
    pub rung: Rung,
    /// What is in its way.
    pub obstacle: Obstacle,
}

impl Ladder {
    /// Looks, and tries what can be tried without a server: `perf` has to count once with the rights
    /// that recording takes. Blocks for that long.
    ///
    /// `sampler` says whether the servers offer the sampler in their process.
    pub fn look(system: System, sampler: bool) -> Self {
        let mut ladder = Self {
            rungs: Vec::new(),
            skipped: Vec::new(),
            system,
            patience: PATIENCE,
            watchdog: in_process::WATCHDOG,
        };
        if ladder.system.has("proc/self") {
            ladder.try_rung(Rung::PerfWithKernel, perf::look(&ladder.system, Rung::PerfWithKernel));
            // What stops both is told once.
            if ladder.rungs.is_empty() {
                ladder.try_rung(Rung::PerfUserOnly, perf::look(&ladder.system, Rung::PerfUserOnly));
                ladder.skipped.dedup_by(|next, first| next.obstacle == first.obstacle);
            } else {
                ladder.rungs.push(Rung::PerfUserOnly);
            }
        } else {
            ladder.try_rung(Rung::Samply, samply::look(&ladder.system));
            ladder.try_rung(Rung::Xctrace, xctrace::look(&ladder.system));
        }
        if sampler {
            ladder.rungs.push(Rung::InProcess);
        }
        ladder.rungs.push(Rung::CountersOnly);
        ladder
    }

    fn try_rung(&mut self, rung: Rung, found: Result<(), Obstacle>) {
        match found {
            Ok(()) => self.rungs.push(rung),
            Err(obstacle) => self.skipped.push(Skipped { rung, obstacle }),
        }
    }

    /// The rungs to try, best first.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The others, best first. An obstacle that is in the way of several rungs comes with the first.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Records a server for as long as `window`.
    ///
    /// # Errors
    ///
    /// [`Failure::StepDown`] if the profiler fails, [`Failure::Fatal`] if the server does.
    pub async fn record(
        &self,
        rung: Rung,
        subject: &Subject<'_>,
        window: Duration,
    ) -> Result<Recording, Failure> {
        let mut recording = match rung {
            Rung::PerfWithKernel | Rung::PerfUserOnly => {
                let perf =
                    perf::Perf { program: self.program("perf")?, rung, system: &self.system };
                perf.record(subject, window, self.patience).await?
            }
            Rung::InProcess => in_process::record(subject, window, self.watchdog).await?,
            Rung::Samply => {
                samply::record(&self.program("samply")?, subject, window, self.patience).await?
            }
            Rung::Xctrace => {
                xctrace::record(&self.program("xctrace")?, subject, window, self.patience).await?
            }
            Rung::CountersOnly => {
                let reason = "no profiler can be used here: counters and spans are all there is";
                return Err(Obstacle::new(reason).into());
            }
        };
        let notices = notices::of(&recording);
        recording.notices.extend(notices);
        Ok(recording)
    }

    fn program(&self, name: &str) -> Result<PathBuf, Obstacle> {
        self.system.program(name).ok_or_else(|| Obstacle::new(format!("`{name}` is missing")))
    }

    /// The same with less patience.
    #[cfg(test)]
    pub(super) fn impatient(self, patience: Duration) -> Self {
        Self { patience, watchdog: patience, ..self }
    }
}

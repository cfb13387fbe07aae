//! What a profiler recorded of one server.

use std::{path::PathBuf, time::Duration};

use super::{Folded, Rung};

/// The stacks of one server, in samples, and how far they can be trusted.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Who recorded it.
    pub rung: Rung,
    /// The stacks with the symbols' names as the profiler tells them (mangled or not), outermost
    /// frame first, without the thread's name; weights in samples.
    pub stacks: Folded,
    /// How many samples were taken.
    pub samples: u64,
    /// The share of samples whose stack reaches the start of its thread, from 0 to 1; the others
    /// were cut, and hang at the wrong place. Absent if nothing was sampled.
    pub rooted_share: Option<f64>,
    /// The share of samples that were taken but not kept, from 0 to 1.
    pub lost_share: f64,
    /// CPU time that the samples stand for: their number over the sampling rate.
    pub sampled_cpu: Duration,
    /// CPU time of the server over the same window by the system's own account; absent where the
    /// system does not tell.
    pub system_cpu: Option<Duration>,
    /// How long was recorded.
    pub window: Duration,
    /// The profiler's own file, for the raw graph; absent for profilers that leave none.
    pub file: Option<PathBuf>,
    /// Whether a timer took the samples, and no hardware counter: just as good for shares of time.
    pub by_timer: bool,
    /// What a reader has to know of it, a sentence each, with its mend.
    pub notices: Vec<String>,
}

impl Recording {
    /// Sampled CPU time over the system's: near 1 if the samples tell the whole truth.
    pub fn cpu_agreement(&self) -> Option<f64> {
        let system = self.system_cpu?.as_secs_f64();
        (system > 0.0).then(|| self.sampled_cpu.as_secs_f64() / system)
    }
}

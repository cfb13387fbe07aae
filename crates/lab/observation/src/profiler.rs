//! The ways to see where CPU time goes.

use std::fmt;

use serde::{Deserialize, Serialize};

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

impl Profiler {
    /// Whether it needs an unwinder: the others unwind in their own way.
    pub fn is_perf(self) -> bool {
        matches!(self, Self::PerfWithKernel | Self::PerfUserOnly)
    }
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

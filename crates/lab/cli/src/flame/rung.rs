//! Which profiler made a picture: the rungs of a ladder, the one that sees most first.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way to learn where CPU time goes. Two pictures are compared only if one rung made both: each
/// sees something that the next does not.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// Linux `perf`, with the frames of the kernel.
    PerfWithKernel,
    /// Linux `perf`, confined to the process's own code.
    PerfUserOnly,
    /// A sampler in the server itself, driven by a timer signal.
    InProcess,
    /// `samply`, on macOS.
    Samply,
    /// Apple's `xctrace`, on macOS.
    Xctrace,
    /// None: counters and spans are all there is.
    CountersOnly,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerfWithKernel => "perf, with kernel frames",
            Self::PerfUserOnly => "perf, user frames only",
            Self::InProcess => "in-process sampler, user frames only",
            Self::Samply => "samply",
            Self::Xctrace => "xctrace",
            Self::CountersOnly => "no profiler: counters and spans only",
        })
    }
}

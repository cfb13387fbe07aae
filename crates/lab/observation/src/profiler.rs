//! What a profiler is called, and what it sees.

use std::fmt;

use serde::Serialize;

/// A way to see where CPU time goes. Compare two pictures only if the same profiler made both: each
/// sees something that another one misses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Profiler {
    /// Its name for `--profiler` and in `meta.json`.
    pub name: &'static str,
    pub label: &'static str,
    pub kernel: Kernel,
}

/// How the kernel's work for the server is recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kernel {
    /// With its own frames.
    Frames,
    /// As work of the function that asked for it.
    Callers,
    Missing,
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label)
    }
}

/// How `perf` finds the callers of a function.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Unwinder {
    /// Follow the pointers from frame to frame, which all code of the process has to maintain
    #[value(name = "fp")]
    FramePointers,
    /// Copy each stack, and unwind the copies later by the unwind tables of the binaries
    Dwarf,
}

impl fmt::Display for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FramePointers => "frame pointers",
            Self::Dwarf => "DWARF",
        })
    }
}

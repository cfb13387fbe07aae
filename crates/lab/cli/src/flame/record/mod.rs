//! Recording one running server with the best profiler that is permitted here.
//!
//! Profilers form a [`Ladder`]: what cannot be used is left out before a server starts, and what
//! fails while it records sends its caller a rung down, for both variants. Two rungs are never
//! compared. Each failure is an [`Obstacle`]: one sentence, with its mend.

mod in_process;
mod ladder;
mod notices;
mod obstacle;
mod perf;
mod program;
mod roots;
mod samply;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod window;
mod xctrace;

use std::path::Path;

use hyper::Uri;

pub use ladder::{Ladder, Skipped};
pub use obstacle::{Failure, Obstacle};

/// Whom to record.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The process; its children are recorded with it.
    pub pid: u32,
    /// Its address, if it offers the sampler in its process.
    pub url: Option<&'a Uri>,
    /// Where the profiler's own file goes.
    pub dir: &'a Path,
    /// What the file is named after: `slow` for `slow.perf.data`.
    pub name: &'a str,
}

//! `lab raw-graph`: the standard flame graph of a recording, drawn in a process of its own.
//!
//! The `flamegraph` crate is made for a command: it talks on the standard output, and when `perf`
//! fails it ends the process. So it gets one.

use std::{path::PathBuf, process::ExitCode};

use crate::flame::raw;

/// What to draw.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// What `perf record` wrote
    pub recording: PathBuf,
    /// The picture to write
    pub picture: PathBuf,
    /// What stands above it
    pub title: String,
}

/// Draws it.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    raw::from_perf(&options.recording, &options.picture, &options.title)?;
    Ok(ExitCode::SUCCESS)
}

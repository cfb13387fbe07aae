//! `lab keep`: keeps the binaries of a special build, before the next build replaces them.

use std::process::ExitCode;

use super::Places;
use crate::binaries::{self, Probe};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The kind of the build
    #[arg(long)]
    pub kind: Probe,
}

/// Keeps the binaries of all cases, from `--bin-dir` or from the directory of `lab`.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let directory = binaries::keep(&workspace, &workspace.cases()?, options.kind)?;
    let what_they_do = options.kind.what_they_do();
    eprintln!("the servers that {what_they_do} are in {}", directory.display());
    Ok(ExitCode::SUCCESS)
}

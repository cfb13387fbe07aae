//! `lab keep`: puts the binaries of a build apart, before the next build takes their place.

use std::process::ExitCode;

use super::Places;
use crate::binaries::{self, Kind};

/// As what the binaries are kept.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// What the servers were built to do
    #[arg(long)]
    pub kind: Kind,
}

/// Keeps the binaries of all cases, from `--bin-dir` or from beside `lab`.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let directory = binaries::keep(&workspace, &workspace.cases()?, options.kind)?;
    let what_they_do = options.kind.what_they_do();
    eprintln!("the servers that {what_they_do} are in {}", directory.display());
    Ok(ExitCode::SUCCESS)
}

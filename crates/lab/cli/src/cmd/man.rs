//! `lab man`: a manual page for `lab`, and one for each verb.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::Context as _;

use super::help;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: lab man ~/.local/share/man/man1 && man lab-compare")]
pub struct Options {
    /// The directory to write them to
    pub dir: PathBuf,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&options.dir)
        .and_then(|()| clap_mangen::generate_to(help::lab(), &options.dir))
        .with_context(|| format!("cannot write to {}", options.dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

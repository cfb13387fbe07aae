//! `lab completions`: a script with which a shell completes verbs and flags.

use std::{io::Write as _, process::ExitCode};

use clap_complete::Shell;

use super::help;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab completions bash > ~/.local/share/bash-completion/completions/lab
  lab completions fish > ~/.config/fish/completions/lab.fish")]
pub struct Options {
    /// The shell
    pub shell: Shell,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut help::lab(), "lab", &mut script);
    // The reader may be gone, as after `| head`.
    let _ = std::io::stdout().write_all(&script);
    Ok(ExitCode::SUCCESS)
}

//! `lab instructions`: what gungraun counted, from standard input, against its reference.

use std::{io::Read as _, process::ExitCode};

use anyhow::Context as _;

use super::Places;
use crate::{count::Instructions, display::thousands};

/// What to do with the counts.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Make them the reference instead of holding them against it
    #[arg(long)]
    pub update: bool,
}

/// Reads gungraun's JSON, prints the counts, and checks or keeps them.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let mut lines = String::new();
    std::io::stdin().read_to_string(&mut lines).context("cannot read standard input")?;
    let counted = Instructions::parse(&lines)?;
    for (name, count) in counted.named() {
        out!("{:>12}  {name}", thousands(count as f64));
    }
    let path = places.workspace()?.benches().join("instructions.toml");
    if options.update {
        counted.write(&path)?;
        eprintln!("wrote {}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let differs = counted.compare(&Instructions::read(&path)?);
    if differs.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for line in &differs {
        eprintln!("error: {line}");
    }
    eprintln!("If that is meant, `just bench-instructions --update` makes it the new reference.");
    Ok(ExitCode::FAILURE)
}

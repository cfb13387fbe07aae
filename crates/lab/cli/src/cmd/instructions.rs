//! `lab instructions`: checks gungraun's instruction counts from standard input.

use std::{io::Read as _, process::ExitCode};

use anyhow::Context as _;

use super::Places;
use crate::{count::Instructions, display::thousands};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Write them as the new reference
    #[arg(long)]
    pub update: bool,
}

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
    eprintln!("If this is intended, `just bench-instructions --update` writes the new reference.");
    Ok(ExitCode::FAILURE)
}

//! `lab record`: takes the newest results together as a record to publish. It measures nothing.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;

use super::Places;
use crate::record::Draft;

/// Which results are good enough, and where they go.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The fewest pairs of runs that are published
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub pairs: usize,
    /// What the record is named after its day [default: 2-cores, or what this machine has]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// The directory of records [default: docs/record in the workspace]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Put it in the place of a record of the same name
    #[arg(long)]
    pub replace: bool,
    /// Publish it in spite of what speaks against it
    #[arg(long)]
    pub force: bool,
}

/// Above this a clone of the repository begins to feel it.
const LARGE: u64 = 2_000_000;

/// Judges the newest results and writes them, or says why not.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let draft = Draft::of(&workspace, &workspace.cases()?, options.pairs)?;
    for complaint in &draft.complaints {
        eprintln!("{}: {complaint}", if options.force { "note" } else { "error" });
    }
    if !draft.complaints.is_empty() && !options.force {
        bail!("nothing was written; `--force` publishes these results all the same");
    }
    let out = options.out.clone().unwrap_or_else(|| workspace.root().join("docs/record"));
    let dir = out.join(draft.name(options.name.as_deref()));
    let run = draft.run.display().to_string();
    let (benches, groups) = (draft.benches.benches.len(), draft.benches.groups());
    let published = draft.publish(dir, options.replace)?;

    let [(_, run_size), (_, benches_size), (pictures, pictures_size)] = published.parts;
    out!("  Record    {}, {}", published.dir.display(), kilobytes(published.bytes()));
    out!("  Run       {}, from {run}", kilobytes(run_size));
    out!("  Benches   {}, {benches} figures in {groups} groups", kilobytes(benches_size));
    out!("  Pictures  {}, {pictures} files", kilobytes(pictures_size));
    if published.bytes() > LARGE {
        eprintln!("note: that is more than {} for a repository", kilobytes(LARGE));
    }
    Ok(ExitCode::SUCCESS)
}

fn kilobytes(bytes: u64) -> String {
    format!("{} kB", bytes.div_ceil(1000))
}

/// A part of a directory's name.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("has to be of letters, digits and hyphens".to_owned());
    }
    Ok(text.to_owned())
}

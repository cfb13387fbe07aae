//! `lab record`: publishes the newest results as a record. It measures nothing.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;

use super::Places;
use crate::record::Draft;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The minimum number of pairs
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub pairs: usize,
    /// The name of the record after its date [default: the number of cores, such as 2-cores]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// The directory of records [default: docs/record in the workspace]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a record of the same name
    #[arg(long)]
    pub replace: bool,
    /// Publish it in spite of the complaints
    #[arg(long)]
    pub force: bool,
}

/// Bytes that noticeably slow down a clone of the repository.
const LARGE: u64 = 2_000_000;

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let draft = Draft::of(&workspace, &workspace.cases()?, options.pairs)?;
    for complaint in &draft.complaints {
        eprintln!("{}: {complaint}", if options.force { "note" } else { "error" });
    }
    if !draft.complaints.is_empty() && !options.force {
        bail!("nothing was written; `--force` publishes these results anyway");
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
        eprintln!("note: that is more than {}, which is a lot for a repository", kilobytes(LARGE));
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

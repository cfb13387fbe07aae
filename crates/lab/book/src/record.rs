//! `lab-book record`: collects the newest results as a record to publish. It measures nothing.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;

use lab_book::{Draft, remove_older};
use lab_model::Workspace;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The fewest pairs of runs to publish
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub pairs: usize,
    /// The end of the record's name, after the day [default: 2-cores, or what this machine has]
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// The directory of records [default: docs/record in the workspace]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Remove the older records once this one is complete; git keeps them
    #[arg(long)]
    pub remove_older: bool,
}

/// Checks the newest results and writes them, or says why not.
pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let draft = Draft::of(workspace, options.pairs)?;
    for complaint in &draft.complaints {
        eprintln!("error: {complaint}");
    }
    if !draft.complaints.is_empty() {
        bail!("nothing was written; the lines above say why");
    }
    let out = options.out.clone().unwrap_or_else(|| workspace.root().join("docs/record"));
    let dir = out.join(draft.name(options.name.as_deref()));
    let (run, benches) = (draft.run.display().to_string(), draft.benches.benches.len());
    let bytes = draft.publish(dir.clone())?;
    println!("  Record    {}, {} kB", dir.display(), bytes.div_ceil(1000));
    println!("  Run       {run}");
    println!("  Benches   {benches} figures");
    if options.remove_older {
        for older in remove_older(&out, &dir)? {
            println!("  Removed   {older}, which git keeps");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A part of a directory's name.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("use letters, digits and hyphens".to_owned());
    }
    Ok(text.to_owned())
}

//! `lab practice try`: a file of the reader's own, and what to do with it.

use jiff::Timestamp;
use lab_cases::{Case, MINE, Workspace};
use lab_practice::Entry;
use lab_system::out;

use super::{find, list};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The case; without one, all are listed
    pub case: Option<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let Some(name) = &options.case else { return list::run(workspace) };
    let case = &find(workspace, name)?;
    lab_practice::begin(case)?;
    begun(workspace, case)
}

/// Says what to do with a file that was just made.
pub fn begun(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    let now = Timestamp::now();
    Entry::change(workspace, case, |entry| entry.tried = entry.tried.or(Some(now)))?;
    out!("  Edit            {}", lab_report::path(&case.source(MINE)));
    out!("  Then            just check {}", case.shown);
    out!("  rust-analyzer   \"rust-analyzer.cargo.features\": [\"{}/mine\"]", case.name);
    Ok(())
}

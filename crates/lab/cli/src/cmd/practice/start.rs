//! `lab practice try`: a file of the reader's own, and the loop around it.

use std::process::ExitCode;

use anyhow::Context as _;
use jiff::Timestamp;
use lab_cases::{Case, MINE, Workspace};
use lab_practice::Entry;
use lab_report::translate;
use lab_system::out;

use super::{find, watch};
use crate::cmd::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The case; without one, --watch goes on where you were
    pub case: Option<String>,
    /// Show what is known, and check after each save; a key for a hint, the speed, the next case
    #[arg(long)]
    pub watch: bool,
    /// Begin again: your file becomes mine.rs.old, and the shop's directory mine.old
    #[arg(long, requires = "case")]
    pub again: bool,
}

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let Some(name) = &options.case else {
        let case = lab_practice::latest(workspace)?;
        let case =
            case.context(translate!("you have passed everything; the exam is: just try shop"))?;
        return watch::run(places, workspace, case);
    };
    let case = find(workspace, name)?;
    if options.again {
        lab_practice::begin_again(&case)?;
        Entry::change(workspace, &case, |entry| (entry.tried, entry.passed) = (None, None))?;
        note(workspace, &case)?;
    } else if !options.watch {
        begin(workspace, &case)?;
    }
    if options.watch {
        return watch::run(places, workspace, case);
    }
    out!("  {}{}", translate!("Edit            "), lab_report::path(&case.source(MINE)));
    let judge = match &case.contest {
        Some(_) => "contest".to_owned(),
        None => format!("try {} --watch", case.shown),
    };
    out!("  {}just {judge}", translate!("Then            "));
    out!("  rust-analyzer   \"rust-analyzer.cargo.features\": [\"{}/mine\"]", case.name);
    Ok(ExitCode::SUCCESS)
}

/// Makes the reader's file.
pub(super) fn begin(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    lab_practice::begin(case)?;
    note(workspace, case)
}

/// Keeps when the reader began.
fn note(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    let now = Timestamp::now();
    Entry::change(workspace, case, |entry| entry.tried = entry.tried.or(Some(now)))?;
    Ok(())
}

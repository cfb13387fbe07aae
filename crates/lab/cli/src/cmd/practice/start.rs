//! `lab practice try`: a file of the reader's own, and what to do with it.

use jiff::Timestamp;
use lab_cases::{MINE, Workspace};
use lab_practice::Entry;
use lab_report::translate;
use lab_system::out;

use super::{find, list};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The case; without one, all are listed
    pub case: Option<String>,
    /// Begin again: your file becomes mine.rs.old, and the shop's directory mine.old
    #[arg(long, requires = "case")]
    pub again: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let Some(name) = &options.case else { return list::run(workspace) };
    let case = &find(workspace, name)?;
    if options.again {
        lab_practice::begin_again(case)?;
        Entry::change(workspace, case, |entry| (entry.tried, entry.passed) = (None, None))?;
    } else {
        lab_practice::begin(case)?;
    }
    let now = Timestamp::now();
    Entry::change(workspace, case, |entry| entry.tried = entry.tried.or(Some(now)))?;
    out!("  {}{}", translate!("Edit            "), lab_report::path(&case.source(MINE)));
    let judge = match &case.contest {
        Some(_) => "contest".to_owned(),
        None => format!("check {}", case.shown),
    };
    out!("  {}just {judge}", translate!("Then            "));
    out!("  rust-analyzer   \"rust-analyzer.cargo.features\": [\"{}/mine\"]", case.name);
    Ok(())
}

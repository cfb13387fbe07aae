//! `lab practice reset`: begin again.

use anyhow::{bail, ensure};
use lab_cases::Workspace;
use lab_practice::Entry;

use super::{Named, ask::ask, start::begun};

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub named: Named,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let case = &options.named.find(workspace)?;
    let answer = |typed: &str| match typed {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => bail!("answer y or n"),
    };
    let question = "Begin again? Your file becomes mine.rs.old (y/n)";
    let is_sure = options.yes || ask(question, "--yes", answer)?;
    ensure!(is_sure, "nothing was changed");
    lab_practice::reset(case)?;
    Entry::change(workspace, case, |entry| (entry.tried, entry.passed) = (None, None))?;
    begun(workspace, case)
}

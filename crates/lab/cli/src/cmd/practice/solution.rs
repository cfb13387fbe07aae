//! `lab practice solution`: our fix, once the reader's has passed.

use anyhow::ensure;
use lab_cases::Workspace;
use lab_practice::Entry;
use lab_system::out;

use super::Named;

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub named: Named,
    /// Show it anyway
    #[arg(long)]
    pub give_up: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let case = &options.named.find(workspace)?;
    let shown = &case.shown;
    ensure!(
        options.give_up || Entry::of(workspace, case)?.passed.is_some(),
        "your fix has not passed `just check {shown}`; `just solution {shown} --give-up` shows ours"
    );
    out!("{}", lab_practice::solution(case)?);
    if !case.is_exercise() {
        let further = case.page().replace(".md", "-further.md");
        out!("{} explains it, and {further} measures alternatives.", case.page());
    }
    Ok(())
}

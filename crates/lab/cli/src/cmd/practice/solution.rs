//! `lab practice solution`: our fix, once the reader's has passed.

use anyhow::ensure;
use lab_cases::Workspace;
use lab_practice::{Entry, in_book, page};
use lab_report::translate;
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
        translate!(
            "your fix has not passed `just check {case}`; `just solution {case} --give-up` shows ours",
            case = shown
        )
    );
    out!("{}", lab_practice::solution(workspace, case)?);
    if !case.is_exercise() {
        let further = in_book(workspace, case.page().replace(".md", "-further.md"));
        let page = page(workspace, case);
        let more =
            translate!("{page} explains it, and {further} measures alternatives.", page, further);
        out!("{more}");
    }
    Ok(())
}

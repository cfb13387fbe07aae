//! `lab practice exercises`: what can be fixed, and how far the reader is.

use lab_display::{NONE, Table, out};
use lab_model::Workspace;
use lab_practice::Entry;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for case in workspace.cases_and_exercises()?.into_iter().filter(|case| case.check.is_some()) {
        let entry = Entry::of(workspace, &case)?;
        let (state, minutes) = (entry.state(), entry.minutes());
        all.push(serde_json::json!({ "case": case.name, "page": case.page(), "state": state, "minutes": minutes, "entry": entry }));
        let minutes = minutes.map_or(NONE.to_owned(), |it| it.to_string());
        let page = case.page();
        rows.push(vec![case.alias.unwrap_or(case.name), state.to_owned(), minutes, page]);
    }
    match options.json {
        true => out!("{}", serde_json::to_string(&all)?),
        false => out!("{}", Table::new("", ["to fix", "state", "minutes", "page"], rows).text()),
    }
    Ok(())
}

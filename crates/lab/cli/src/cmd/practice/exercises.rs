//! `lab practice exercises`: what can be fixed, and how far the reader is.

use lab_display::{Table, out};
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
    for case in lab_practice::course(workspace)? {
        let entry = Entry::of(workspace, &case)?;
        let (state, minutes, page) = (entry.state(), entry.minutes(), case.page());
        // Nothing to say about what the reader has not begun.
        let shown = if state == Entry::OPEN { "" } else { state };
        let time = minutes.map_or(String::new(), |it| it.to_string());
        rows.push(vec![case.shown.clone(), shown.to_owned(), time, page.clone()]);
        all.push(serde_json::json!({ "case": case.shown, "page": page, "state": state, "minutes": minutes, "entry": entry }));
    }
    match options.json {
        true => out!("{}", serde_json::to_string(&all)?),
        false => out!("{}", Table::new("", ["to fix", "state", "minutes", "page"], rows).text()),
    }
    Ok(())
}

//! `lab practice exercises`: what can be fixed, in the order of the course, and how far the reader is.

use lab_model::Case;
use lab_practice::Entry;
use lab_system::out;
use lab_workspace::Workspace;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub json: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let mut all = Vec::new();
    let cases = lab_practice::course(workspace)?;
    let widest = |of: fn(&Case) -> usize| cases.iter().map(of).max().unwrap_or_default();
    let (name, page) = (widest(|case| case.shown.len()), widest(|case| case.page().len()));
    for case in &cases {
        let entry = Entry::of(workspace, case)?;
        let (state, minutes) = (entry.state(), entry.minutes());
        if !options.json {
            let shown = match (state, minutes) {
                // Nothing to say about what the reader has not begun.
                (Entry::OPEN, _) => String::new(),
                (_, Some(minutes)) => format!("{state} in {minutes} min"),
                _ => state.to_owned(),
            };
            let line = format!("  {:name$}  {:page$}  {shown}", case.shown, case.page());
            out!("{}", line.trim_end());
        }
        all.push(serde_json::json!({ "case": case.shown, "page": case.page(), "state": state, "minutes": minutes, "entry": entry }));
    }
    if options.json {
        out!("{}", serde_json::to_string(&all)?);
    }
    Ok(())
}

//! `lab practice hint`: one more hint.

use lab_display::{out, paragraph};
use lab_model::{Case, Workspace};
use lab_practice::Entry;

pub fn run(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    let hints = case.check.as_ref().map_or(&[][..], |check| &check.hints);
    let more = |entry: &mut Entry| entry.hints = hints.len().min(entry.hints + 1);
    let shown = Entry::change(workspace, case, more)?.hints;
    for (nth, hint) in (1..).zip(&hints[..shown]) {
        out!("{}", paragraph(&format!("{nth} of {}: {hint}", hints.len())));
    }
    Ok(())
}

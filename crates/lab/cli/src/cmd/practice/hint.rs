//! `lab practice hint`: one more hint.

use lab_cases::{Case, Workspace};
use lab_practice::Entry;
use lab_report::{paragraph, translate};
use lab_system::out;

pub fn run(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    let hints = case.check.as_ref().map_or(&[][..], |check| &check.hints);
    let shown = Entry::of(workspace, case)?.hints;
    let (count, name) = (hints.len(), &case.shown);
    // The last one stays available to someone who closed the terminal.
    let Some(hint) = hints.get(shown.min(count.saturating_sub(1))) else {
        out!("{}", translate!("{case} has no hints", case = name));
        return Ok(());
    };
    let number = (shown + 1).min(count);
    out!("{}", paragraph(&translate!("Hint {number} of {count}: {hint}", number, count, hint)));
    if shown >= count {
        let more = translate!(
            "There are no more hints. `just solution {case} --give-up` shows our fix.",
            case = name
        );
        out!("\n{}", paragraph(&more));
    }
    Entry::change(workspace, case, |entry| entry.hints = number)?;
    Ok(())
}

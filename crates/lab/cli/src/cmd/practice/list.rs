//! `lab practice exercises`: what can be fixed, in the order of the course, how far the reader is, and
//! how good the guesses were.

use lab_cases::{Case, Workspace};
use lab_practice::{Entry, page};
use lab_report::{paragraph, translate, translated};
use lab_system::out;

pub fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let entries = entries(workspace)?;
    let page_of = |case: &Case| page(workspace, case);
    let widest = |of: &dyn Fn(&Case) -> usize| {
        entries.iter().map(|(_, case)| of(case)).max().unwrap_or_default()
    };
    let (name, page) = (widest(&|case| case.shown.len()), widest(&|case| page_of(case).len()));
    for (entry, case) in &entries {
        let shown = match (entry.state(), entry.minutes()) {
            // Nothing to say about what the reader has not begun.
            (Entry::OPEN, _) => String::new(),
            (state, Some(minutes)) => {
                translate!("{state} in {minutes} min", state = translated(state), minutes)
            }
            (state, None) => translated(state).to_owned(),
        };
        let line = format!("  {:name$}  {:page$}  {shown}", case.shown, page_of(case));
        out!("{}", line.trim_end());
    }
    print_guesses(workspace)?;
    out!("\n  {}", translate!("next: {next}", next = "just try"));
    Ok(())
}

/// How good the guesses were; nothing without one that is judged.
pub(super) fn print_guesses(workspace: &Workspace) -> anyhow::Result<()> {
    let guesses = lab_practice::guesses(&entries(workspace)?);
    if !guesses.is_empty() {
        out!("\n{}", paragraph(&guesses.join(" ")));
    }
    Ok(())
}

/// All cases in the order of the course, with what the journal says of them.
fn entries(workspace: &Workspace) -> anyhow::Result<Vec<(Entry, Case)>> {
    let with_entry = |case: Case| anyhow::Ok((Entry::of(workspace, &case)?, case));
    lab_practice::course(workspace)?.into_iter().map(with_entry).collect()
}

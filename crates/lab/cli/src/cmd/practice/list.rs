//! `lab practice try` without a case: what can be fixed, in the order of the course, how far the reader is, and
//! how good the guesses were.

use lab_cases::{Case, Workspace};
use lab_practice::Entry;
use lab_report::paragraph;
use lab_system::out;

pub fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let cases = lab_practice::course(workspace)?;
    let widest = |of: fn(&Case) -> usize| cases.iter().map(of).max().unwrap_or_default();
    let (name, page) = (widest(|case| case.shown.len()), widest(|case| case.page().len()));
    let with_entry = |case: Case| anyhow::Ok((Entry::of(workspace, &case)?, case));
    let entries = cases.into_iter().map(with_entry).collect::<anyhow::Result<Vec<_>>>()?;
    for (entry, case) in &entries {
        let shown = match (entry.state(), entry.minutes()) {
            // Nothing to say about what the reader has not begun.
            (Entry::OPEN, _) => String::new(),
            (state, Some(minutes)) => format!("{state} in {minutes} min"),
            (state, None) => state.to_owned(),
        };
        let line = format!("  {:name$}  {:page$}  {shown}", case.shown, case.page());
        out!("{}", line.trim_end());
    }
    let guesses = lab_practice::guesses(&entries);
    if !guesses.is_empty() {
        out!("\n{}", paragraph(&guesses.join(" ")));
    }
    out!("\n  next: just try CASE");
    Ok(())
}

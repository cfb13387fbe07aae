//! `lab practice try` without a case: what can be fixed, in the order of the course, how far the reader is, and
//! how good the guesses were.

use lab_cases::{Case, Workspace};
use lab_practice::{Entry, page};
use lab_report::{paragraph, translate, translated};
use lab_system::out;

pub fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let cases = lab_practice::course(workspace)?;
    let page_of = |case: &Case| page(workspace, case);
    let widest = |of: &dyn Fn(&Case) -> usize| cases.iter().map(of).max().unwrap_or_default();
    let (name, page) = (widest(&|case| case.shown.len()), widest(&|case| page_of(case).len()));
    let with_entry = |case: Case| anyhow::Ok((Entry::of(workspace, &case)?, case));
    let entries = cases.into_iter().map(with_entry).collect::<anyhow::Result<Vec<_>>>()?;
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
    let guesses = lab_practice::guesses(&entries);
    if !guesses.is_empty() {
        out!("\n{}", paragraph(&guesses.join(" ")));
    }
    out!("\n  {}", translate!("next: {next}", next = "just try CASE"));
    Ok(())
}

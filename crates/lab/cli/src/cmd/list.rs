//! `lab list`: the cases by name.

use std::process::ExitCode;

use console::style;

use super::Places;

/// Prints each case with what is wrong in it, and its variants.
pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let cases = places.workspace()?.cases()?;
    let widest = cases.iter().map(|case| case.name.len()).max().unwrap_or_default();
    for case in cases {
        out!("{:widest$}  {}", style(&case.name).bold().cyan(), case.title);
        out!("{:widest$}  {}", "", style(case.variants.join(", ")).dim());
    }
    Ok(ExitCode::SUCCESS)
}

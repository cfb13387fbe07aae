//! `lab list`: the cases and their variants.

use std::process::ExitCode;

use console::style;

use super::Places;

pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let cases = places.workspace()?.cases()?;
    let widest = cases.iter().map(|case| case.name.len()).max().unwrap_or_default();
    for case in cases {
        out!("{:widest$}  {}", style(&case.name).bold().cyan(), case.title);
        out!("{:widest$}  {}", "", style(case.variants.join(", ")).dim());
    }
    Ok(ExitCode::SUCCESS)
}

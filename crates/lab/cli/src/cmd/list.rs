//! `lab list`: the cases and their variants.

use std::process::ExitCode;

use console::style;
use lab_system::out;

use super::Places;

pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let cases = places.workspace()?.cases()?;
    let widest = cases.iter().map(|case| case.name.len()).max().unwrap_or_default();
    for case in cases {
        // Not its title: a learner asks before the fault is known.
        out!("{:widest$}  {}", style(&case.name).bold().cyan(), case.question);
        let alias = case.alias.map_or(String::new(), |alias| format!("alias {alias}; "));
        out!("{:widest$}  {}", "", style(format!("{alias}{}", case.variants.join(", "))).dim());
    }
    Ok(ExitCode::SUCCESS)
}

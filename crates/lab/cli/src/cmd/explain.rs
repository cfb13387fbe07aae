//! `lab explain`: what the code of a note or of a verdict means.

use std::process::ExitCode;

use console::style;
use lab_cases::unknown;
use lab_report::{EXPLANATIONS, column, paragraph};
use lab_system::out;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The code in `note[CODE]`, or in JSON; without one, all are listed
    code: Option<String>,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let Some(code) = options.code.as_deref() else {
        let width = EXPLANATIONS.iter().map(|it| it.code.len()).max().unwrap_or(0) + 4;
        for it in EXPLANATIONS.iter() {
            let label = format!("  {:<1$}", it.code, width - 2);
            out!("{}", column(width, &style(label).cyan().to_string(), &plain(it.meaning)));
        }
        return Ok(ExitCode::SUCCESS);
    };
    // As it was copied from a terminal: `note[steal]`.
    let code = code.trim_start_matches("note[").trim_end_matches([']', ':']);
    let found = EXPLANATIONS.iter().find(|it| it.code == code);
    let it = found.ok_or_else(|| {
        unknown("code", code, EXPLANATIONS.iter().map(|it| it.code))
            .context("`lab explain` without a code lists all")
    })?;
    out!("{}\n\n{}", style(it.code).bold().cyan(), paragraph(&plain(it.meaning)));
    for text in it.more.split("\n\n") {
        out!("\n{}", paragraph(&plain(text)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Without the marks of Markdown, which a terminal doesn't show.
fn plain(text: &str) -> String {
    text.replace(['`', '*'], "")
}

//! `lab explain`: what the code of a note or of a verdict means, and what to do about a suspect of a triage.

use std::process::ExitCode;

use console::style;
use lab_cases::unknown;
use lab_report::{EXPLANATIONS, column, paragraph};
use lab_system::out;
use lab_triage::Rules;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The code in `note[CODE]`, or in JSON, or the name of a suspect; without one, all are listed
    code: Option<String>,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let rules = Rules::read()?;
    let Some(code) = options.code.as_deref() else {
        let codes: Vec<_> = EXPLANATIONS.iter().map(|it| (it.code, plain(it.meaning))).collect();
        let suspects = rules.titles().map(|(id, title)| (id, title.to_owned())).collect();
        for (heading, listed) in [("Notes and verdicts", codes), ("Suspects of a triage", suspects)]
        {
            out!("{}", style(heading).bold());
            list(&listed);
        }
        return Ok(ExitCode::SUCCESS);
    };
    // As it was copied from a terminal: `note[steal]`.
    let code = code.trim_start_matches("note[").trim_end_matches([']', ':']);
    if let Some(it) = rules.named(code) {
        out!("{}\n\n{}", style(&it.id).bold().cyan(), paragraph(&plain(&it.title)));
        for (name, text) in [("Wrong if", &it.refute), ("First fix", &it.fix)] {
            out!("\n{}", paragraph(&plain(&format!("{name}: {text}"))));
        }
        out!("\n  The course has more: docs/src/{}", it.chapter);
        return Ok(ExitCode::SUCCESS);
    }
    let found = EXPLANATIONS.iter().find(|it| it.code == code);
    let it = found.ok_or_else(|| {
        let codes = EXPLANATIONS.iter().map(|it| it.code);
        unknown("code", code, codes.chain(rules.titles().map(|(id, _)| id)))
            .context("`lab explain` without a code lists all")
    })?;
    out!("{}\n\n{}", style(it.code).bold().cyan(), paragraph(&plain(it.meaning)));
    for text in it.more.split("\n\n") {
        out!("\n{}", paragraph(&plain(text)));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(all: &[(&str, String)]) {
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 4;
    for (name, meaning) in all {
        let label = format!("  {name:<0$}", width - 2);
        out!("{}", column(width, &style(label).cyan().to_string(), meaning));
    }
}

/// Without the marks of Markdown, which a terminal doesn't show.
fn plain(text: &str) -> String {
    text.replace(['`', '*'], "")
}

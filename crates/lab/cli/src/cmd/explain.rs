//! `lab explain`: what the code of a note or of a verdict means, and what to do about a suspect of a triage.

use std::process::ExitCode;

use console::style;
use lab_cases::unknown;
use lab_report::{EXPLANATIONS, Explanation, TextLanguage, column, paragraph, translate};
use lab_system::out;
use lab_triage::Rules;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The code in `note[CODE]`, or in JSON, or the name of a suspect; without one, all are listed
    code: Option<String>,
    /// Speak this language, instead of that of LC_ALL, LC_MESSAGES or LANG
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub language: Option<TextLanguage>,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let rules = Rules::read()?;
    let Some(code) = options.code.as_deref() else {
        let codes = EXPLANATIONS.iter().map(Explanation::in_language);
        let codes: Vec<_> =
            codes.map(|explanation| (explanation.code, plain(explanation.meaning))).collect();
        let suspects = rules.titles().map(|(id, title)| (id, title.to_owned())).collect();
        for (heading, listed) in [
            (translate!("Notes and verdicts"), codes),
            (translate!("Suspects of a triage"), suspects),
        ] {
            out!("{}", style(heading).bold());
            list(&listed);
        }
        return Ok(ExitCode::SUCCESS);
    };
    // As it was copied from a terminal: `note[steal]`.
    let code = code.trim_start_matches("note[").trim_end_matches([']', ':']);
    if let Some(suspect) = rules.named(code) {
        out!("{}\n\n{}", style(&suspect.id).bold().cyan(), paragraph(&plain(&suspect.title)));
        let (refute, fix) = (&suspect.refute, &suspect.fix);
        for text in [translate!("Wrong if: {refute}", refute), translate!("First fix: {fix}", fix)]
        {
            out!("\n{}", paragraph(&plain(&text)));
        }
        let book = if TextLanguage::is_chinese() { "docs/zh-CN/src" } else { "docs/src" };
        let page = format!("{book}/{}", suspect.chapter);
        out!("\n  {}", translate!("The course has more: {page}", page));
        return Ok(ExitCode::SUCCESS);
    }
    let found = EXPLANATIONS.iter().find(|explanation| explanation.code == code);
    let explanation = found.ok_or_else(|| {
        let codes = EXPLANATIONS.iter().map(|explanation| explanation.code);
        unknown("code", code, codes.chain(rules.titles().map(|(id, _)| id)))
            .context(translate!("`lab explain` without a code lists all"))
    })?;
    let explanation = explanation.in_language();
    out!("{}\n\n{}", style(explanation.code).bold().cyan(), paragraph(&plain(explanation.meaning)));
    for text in explanation.more.split("\n\n") {
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

/// Removes the marks of Markdown, which a terminal doesn't show.
fn plain(text: &str) -> String {
    text.replace(['`', '*'], "")
}

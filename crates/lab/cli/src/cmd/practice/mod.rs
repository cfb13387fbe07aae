//! `lab practice`: the reader writes the fix of a case, and the laboratory judges it. A file for each verb.

mod ask;
mod bench;
mod check;
mod contest;
mod drill;
mod hint;
mod keys;
mod list;
mod predict;
mod prepare;
mod serve;
mod solution;
mod start;
mod watch;

use std::process::ExitCode;

use lab_cases::{Case, Workspace};
use lab_report::TextLanguage;

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(subcommand)]
    verb: Verb,
    /// Speak this language, instead of that of LC_ALL, LC_MESSAGES or LANG
    #[arg(long, global = true, value_enum, value_name = "LANGUAGE")]
    language: Option<TextLanguage>,
}

impl Options {
    /// The language that the reader asks for. Programs read the same words everywhere.
    pub fn language(&self) -> Option<TextLanguage> {
        let is_json = match &self.verb {
            Verb::Bench(options) => options.json,
            Verb::Check(options) => options.json,
            Verb::Contest(options) => options.json,
            _ => false,
        };
        if is_json { Some(TextLanguage::English) } else { self.language }
    }
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Measure cases as `lab bench` does, next to what you predicted
    Bench(super::bench::Options),
    /// Build everything that the course needs
    Prepare,
    /// Copy `slow.rs` to `mine.rs`, for you to fix; --watch checks each save
    Try(start::Options),
    /// List what you can fix, how far you are, and how good your guesses were
    Exercises,
    /// Judge your fix: answers, mechanism, speed [exit code: 0 passed, 1 not yet, 2 error, 3 undecided]
    Check(check::Options),
    /// Measure the shop: one number, and whether to keep your last change [exit code: 0 measured, 2 error]
    Contest(contest::Options),
    /// Write down what you suspect and what a fix would gain, before you measure
    Predict(predict::Options),
    /// Answer questions about recorded figures, a minute each
    Drill(drill::Options),
    /// Run a server and what it needs, until Ctrl-C
    Serve(serve::Options),
    /// Show a hint; one more each time
    Hint(Named),
    /// Explain our fix and compare it with yours, once yours has passed
    Solution(solution::Options),
}

/// The case that a verb is about, by the name that the course uses, whatever the reader typed.
#[derive(Debug, clap::Args)]
pub struct Named {
    pub case: String,
}

impl Named {
    fn find(&self, workspace: &Workspace) -> anyhow::Result<Case> {
        find(workspace, &self.case)
    }
}

fn find(workspace: &Workspace, name: &String) -> anyhow::Result<Case> {
    let case = workspace.cases_named(std::slice::from_ref(name))?.remove(0).masked();
    lab_practice::in_language(workspace, &case)
}

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = &places.workspace()?;
    match &options.verb {
        Verb::Bench(options) => return bench::run(places, workspace, options),
        Verb::Check(options) => return check::run(places, workspace, options),
        Verb::Contest(options) => return contest::run(places, workspace, options),
        Verb::Serve(options) => return serve::run(places, workspace, options),
        Verb::Prepare => return prepare::run(workspace),
        Verb::Try(options) => return start::run(places, workspace, options),
        Verb::Exercises => list::run(workspace),
        Verb::Predict(options) => predict::run(workspace, options),
        Verb::Drill(options) => drill::run(workspace, options),
        Verb::Hint(named) => hint::run(workspace, &named.find(workspace)?),
        Verb::Solution(options) => solution::run(workspace, options),
    }?;
    Ok(ExitCode::SUCCESS)
}

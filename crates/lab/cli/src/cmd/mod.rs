//! The verbs of `lab`, a file each.

mod all_results;
mod bench;
mod bench_output;
mod bisect;
mod command_name;
mod compare;
mod compare_json;
mod count;
mod doctor;
mod effort;
mod explain;
mod flame;
mod flame_summary;
mod generate;
mod interrupt;
mod load;
mod more;
mod own_bench;
mod places;
mod practice;
mod preflight;
mod report;
mod server_options;
mod side;
mod sides;
mod supervise;
mod triage;
mod verify;

use std::{
    io::{IsTerminal as _, stderr},
    path::Path,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{
    Parser, Subcommand,
    error::{ContextKind, ContextValue},
};
use lab_report::{TextLanguage, message};
use lab_system::{err, without_secrets};

use interrupt::{INTERRUPTED, interrupted, interruptible};
pub(crate) use interrupt::{block_on, closed};
use places::Places;

/// Measures HTTP servers: finds what limits one, and compares two builds of it.
#[derive(Debug, Parser)]
#[command(
    name = "lab",
    version = env!("LAB_VERSION"),
    arg_required_else_help = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs"
)]
struct Lab {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Subcommand)]
enum Command {
    // Your own server.
    /// Find what limits your own server, in any language, in a minute
    Triage(Box<triage::Options>),
    /// Compare two builds of your own server, in any language
    Compare(Box<compare::Options>),
    /// Find the commit or the crate that made your server slower
    Bisect(Box<bisect::Options>),
    /// Draw where the time goes, before and after the fix
    Flame(Box<flame::Options>),
    /// Find what distorts figures on this machine, and how to fix it
    Doctor(doctor::Options),
    // The cases.
    /// Measure `slow` against `fixed` under the case's load
    Bench(bench::Options),
    /// Count each variant's allocations, system calls, connections
    Count(count::Options),
    /// Write the fix of a case yourself, and have it judged
    Practice(Box<practice::Options>),
    /// Check every server's answers, and say what a case still lacks
    Verify(verify::Options),
    /// Explain the code of a note or of a verdict, or a suspect
    Explain(explain::Options),
    /// Write a run as one HTML page with charts and all figures
    Report(report::Options),
    /// Put load on a server; the load plan comes from standard input
    #[command(hide = true)]
    Generate,
    /// Put load on a server of a case; each line of standard input is a run. Or describe a case
    #[command(hide = true)]
    Load(load::Options),
    /// Run a server, and end it with `lab`
    #[command(hide = true)]
    Supervise(supervise::Options),
}

pub fn run() -> ExitCode {
    // Parsing takes more than a small stack has.
    if let Err(error) = preflight::ensure_usable() {
        complain(&error);
        return ExitCode::from(2);
    }
    interrupt::survive_file_limit();
    let lab = Lab::try_parse().unwrap_or_else(|error| without_values(error).exit());
    let language = match &lab.command {
        Command::Practice(options) => options.language(),
        Command::Explain(options) => options.language,
        _ => None,
    };
    language.unwrap_or_else(TextLanguage::of_environment).speak();
    let result = match lab.command {
        Command::Doctor(options) => Ok(doctor::run(&options)),
        Command::Bench(options) => bench::run(&lab.places, &options),
        Command::Triage(options) => triage::run(&lab.places, &options),
        Command::Compare(options) => compare::run(&lab.places, &options),
        Command::Bisect(options) => bisect::run(&lab.places, &options),
        Command::Flame(options) => flame::run(&lab.places, &options),
        Command::Report(options) => report::run(&lab.places, &options),
        Command::Practice(options) => practice::run(&lab.places, &options),
        Command::Verify(options) => verify::run(&lab.places, &options),
        Command::Count(options) => count::run(&lab.places, &options),
        Command::Explain(options) => explain::run(&options),
        Command::Generate => generate::run(),
        Command::Load(options) => load::run(&lab.places, &options),
        Command::Supervise(options) => supervise::run(&options),
    };
    // What is kept in a file has been kept by now, and a line above says where.
    let printed = || lab_system::all_printed().context("standard output is incomplete");
    match result.and_then(|code| printed().map(|()| code)) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            // 1 is an answer: not yet, slower, moved.
            ExitCode::from(2)
        }
    }
}

/// Prints an error: in lines that a terminal shows whole, and unbroken for programs.
fn complain(error: &anyhow::Error) {
    let text = format!("error: {error:#}");
    err!("{}", if stderr().is_terminal() { message(&text) } else { text });
}

/// The error without credentials: it quotes what it does not understand.
fn without_values(mut error: clap::Error) -> clap::Error {
    let quoted = |error: &clap::Error, kind| Some(error.get(kind)?.to_string());
    let is_header = quoted(&error, ContextKind::InvalidArg)
        .is_some_and(|argument| argument.contains("--header"));
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue] {
        let Some(ContextValue::String(text)) = error.get(kind) else { continue };
        let is_secret = is_header && kind == ContextKind::InvalidValue;
        let shown = if is_secret { "…".to_owned() } else { without_secrets(text) };
        error.insert(kind, ContextValue::String(shown));
    }
    error
}

/// Opens a page in the browser. That none can be started doesn't undo what the page shows.
fn open(page: &Path) {
    if open::that_detached(page).is_err() {
        err!("no browser could be started: open the page yourself");
    }
}

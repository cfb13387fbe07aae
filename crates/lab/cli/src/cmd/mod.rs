//! The verbs of `lab`, a file each.

mod bench;
mod compare;
mod completions;
mod count;
mod docs;
mod doctor;
mod effort;
mod flame;
mod generate;
mod help;
mod history;
mod interrupt;
mod list;
mod man;
mod new_case;
mod own_server;
mod places;
mod record;
mod report;
mod sides;
mod supervise;
mod triage;
mod verify;

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use clap::{FromArgMatches as _, Parser, Subcommand};

use interrupt::{Ended, interrupted, interruptible};
pub(crate) use interrupt::{block_on, closed};
use places::Places;

/// Measures slow servers against their fixed variants.
#[derive(Debug, Parser)]
#[command(name = "lab", version, arg_required_else_help = true)]
struct Lab {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the cases and their variants
    List,
    /// Find what distorts figures on this machine, and how to fix it
    Doctor,
    /// Measure `slow` against `fixed` under the case's load
    Bench(bench::Options),
    /// Say in a minute what ails your own server, in any language
    Triage(Box<triage::Options>),
    /// Compare two builds of your own server, in any language
    Compare(Box<compare::Options>),
    /// Draw where the time goes, before and after the fix
    Flame(Box<flame::Options>),
    /// List the earlier runs of a case
    History(history::Options),
    /// Write a run as one HTML page with charts and all figures
    Report(report::Options),
    /// Publish the newest results as a record; `just record` measures them first
    Record(record::Options),
    /// Write figures and excerpts into the course, or check them
    Docs(docs::Options),
    /// Write a new case that compiles and runs, for you to fill in
    NewCase(new_case::Options),
    /// Ask every server its case's requests once, and say what a case still lacks
    Verify(verify::Options),
    /// Count what a visit costs each variant: allocations, system calls, connections
    Count(count::Options),
    /// Put load on a server; the load plan comes from standard input
    #[command(hide = true)]
    Generate,
    /// Run a server that does not watch its parent, and end it with `lab`
    #[command(hide = true)]
    Supervise(supervise::Options),
    /// Print a script with which your shell completes verbs and flags
    Completions(completions::Options),
    /// Write the manual pages `lab.1`, `lab-compare.1`, …
    Man(man::Options),
}

/// Runs the verb of the command line.
pub fn run() -> ExitCode {
    let lab =
        Lab::from_arg_matches(&help::lab().get_matches()).unwrap_or_else(|error| error.exit());
    let result = match lab.command {
        Command::List => list::run(&lab.places),
        Command::Doctor => doctor::run(&lab.places),
        Command::Bench(options) => bench::run(&lab.places, &options),
        Command::Triage(options) => Ok(triage::run(&lab.places, &options)),
        Command::Compare(options) => Ok(compare::run(&lab.places, &options)),
        Command::Flame(options) => flame::run(&lab.places, &options),
        Command::History(options) => history::run(&lab.places, &options),
        Command::Report(options) => report::run(&lab.places, &options),
        Command::Record(options) => record::run(&lab.places, &options),
        Command::Docs(options) => docs::run(&lab.places, &options),
        Command::NewCase(options) => new_case::run(&lab.places, &options),
        Command::Verify(options) => verify::run(&lab.places, &options),
        Command::Count(options) => count::run(&lab.places, &options),
        Command::Generate => generate::run(),
        Command::Supervise(options) => supervise::run(&options),
        Command::Completions(options) => completions::run(&options),
        Command::Man(options) => man::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Opens a page in the reader's browser.
fn open(page: &Path) -> anyhow::Result<()> {
    open::that_detached(page)
        .with_context(|| format!("no browser could be started; open {} yourself", page.display()))
}

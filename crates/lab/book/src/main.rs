//! The binary `lab-book`: `just docs` and `just record` call it.

mod docs;
mod record;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use lab_model::Workspace;

/// Fills the course's pages, and publishes the records that they quote.
#[derive(Debug, Parser)]
#[command(name = "lab-book", version, arg_required_else_help = true)]
struct LabBook {
    #[command(subcommand)]
    command: Command,
    /// The workspace, instead of the one that contains the current directory
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The directory of the server binaries, instead of the directory of `lab-book`
    #[arg(long, global = true, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write figures and excerpts into the course, or check them
    Docs(docs::Options),
    /// Publish the newest results as a record; `just record` measures them first
    Record(record::Options),
}

fn main() -> ExitCode {
    let LabBook { command, root, bin_dir } = LabBook::parse();
    let workspace = Workspace::find(root.as_deref(), bin_dir.as_deref());
    let done = workspace.and_then(|workspace| match command {
        Command::Docs(options) => docs::run(&workspace, &options),
        Command::Record(options) => record::run(&workspace, &options),
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

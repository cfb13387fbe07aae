//! The binary `lab-book`, which only those need who work on the course: `just docs` fills the markers of the
//! chapters, and `just record` collects the newest results as a record that they quote.

mod book;
mod docs;
#[cfg(test)]
mod fixture;
mod publish;
mod site;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use lab_cases::Workspace;
use lab_system::{err, out};

/// Fills the course's pages, and publishes the records that they quote.
#[derive(Debug, Parser)]
#[command(name = "lab-book", version, arg_required_else_help = true)]
struct LabBook {
    #[command(subcommand)]
    command: Command,
    /// The workspace, instead of the one that contains the current directory
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The directory of the server binaries, next to that of the results, instead of cargo's target directory
    #[arg(long, global = true, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write figures and excerpts into the course, or check them
    Docs(docs::Options),
    /// Publish the newest results as a record; `just record` measures them first
    Record {
        /// The end of the record's name, after the day [default: 2-cores, or what this machine has]
        #[arg(long, value_parser = name)]
        name: Option<String>,
        /// Only these cases, which were measured anew: their figures replace those of the last record
        #[arg(long, value_name = "CASE")]
        case: Vec<String>,
    },
    /// Write the published results as one page into the site; `just book` builds the rest
    Results,
}

fn main() -> ExitCode {
    let LabBook { command, root, bin_dir } = LabBook::parse();
    let workspace = Workspace::find(root.as_deref(), bin_dir.as_deref());
    let done = workspace.and_then(|workspace| match command {
        Command::Docs(options) => docs::run(&workspace, &options),
        Command::Record { name, case } => {
            let dir = publish::publish(&workspace, name.as_deref(), &case)?;
            out!("  Record    {}", dir.display());
            Ok(ExitCode::SUCCESS)
        }
        Command::Results => {
            out!("all results: {}", site::write_results(&workspace)?.display());
            Ok(ExitCode::SUCCESS)
        }
    });
    done.unwrap_or_else(|error| {
        err!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// A part of a directory's name.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("use letters, digits and hyphens".to_owned());
    }
    Ok(text.to_owned())
}

//! The verbs of `lab`, a file each.

pub mod bench;
pub mod count;
pub mod generate;
pub mod instructions;
pub mod list;
pub mod verify;

use std::{future::Future, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// Measures the workspace's slow servers against their fixed twins.
#[derive(Debug, Parser)]
#[command(name = "lab", version, arg_required_else_help = true)]
pub struct Lab {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Where things are.
    #[command(flatten)]
    pub places: Places,
}

/// Where the cases and their binaries are, if not where they are expected.
#[derive(Debug, clap::Args)]
pub struct Places {
    /// The workspace, instead of the one around the current directory
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Where the server binaries are, instead of beside `lab` itself
    #[arg(long, global = true, value_name = "DIR")]
    pub bin_dir: Option<PathBuf>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Name the cases
    List,
    /// Measure slow against fixed under the case's load
    Bench(bench::Options),
    /// Ask every server its case's requests once and check the answers
    Verify(verify::Options),
    /// Count what a page costs each variant: allocations, system calls, connections
    Count(count::Options),
    /// Check instructions that gungraun counted; `just bench-instructions` pipes them in
    #[command(hide = true)]
    Instructions(instructions::Options),
    /// Put load on a server, as `bench` asks on standard input
    #[command(hide = true)]
    Generate,
}

/// Runs a verb to its end, or until Ctrl-C: then everything that it holds is dropped, and with it
/// go the servers that it started.
fn interruptible<T>(verb: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<Ended<T>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the Tokio runtime")?;
    runtime.block_on(async {
        tokio::select! {
            result = verb => result.map(Ended::Finished),
            signal = tokio::signal::ctrl_c() => {
                signal.context("cannot wait for Ctrl-C")?;
                Ok(Ended::Interrupted)
            }
        }
    })
}

/// How a verb ended.
enum Ended<T> {
    Finished(T),
    Interrupted,
}

/// Tells of an interruption, with the exit code that shells give to one.
fn interrupted() -> ExitCode {
    eprintln!("\ninterrupted: the servers are stopped and nothing was written");
    ExitCode::from(130)
}

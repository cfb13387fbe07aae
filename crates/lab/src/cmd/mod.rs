//! The verbs of `lab`, a file each.

pub mod answer;
pub mod bench;
pub mod bench_generator;
pub mod compare;
pub mod count;
pub mod diff;
pub mod docs;
pub mod doctor;
pub mod effort;
pub mod export;
pub mod flame;
pub mod generate;
pub mod history;
pub mod instructions;
pub mod keep;
pub mod list;
pub mod own_server;
#[cfg(target_os = "linux")]
pub mod raw_graph;
pub mod record;
pub mod report;
pub mod schema;
#[cfg(unix)]
pub mod supervise;
pub mod verify;

use std::{future::Future, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

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
    /// Look for what makes figures wrong on this machine, and say what mends it
    Doctor(doctor::Options),
    /// Measure slow against fixed under the case's load
    Bench(bench::Options),
    /// Compare two builds of your own server, in any language
    Compare(Box<compare::Options>),
    /// Draw where the time goes, before and after
    Flame(Box<flame::Options>),
    /// List what earlier runs said of a case
    History(history::Options),
    /// Set two runs side by side
    Diff(diff::Options),
    /// Write a run as one page: summary, charts, all figures, and the record itself
    Report(report::Options),
    /// Print a run as Markdown, CSV, or what other tools read
    Export(export::Options),
    /// Take the newest results together as a record to publish; `just record` measures them first
    Record(record::Options),
    /// Print the form of a run's record as JSON Schema
    Schema,
    /// Splice figures and excerpts into the course, or say what is stale
    Docs(docs::Options),
    /// Ask every server its case's requests once and check the answers
    Verify(verify::Options),
    /// Count what a page costs each variant: allocations, system calls, connections
    Count(count::Options),
    /// Put the binaries of a special build apart, as `just count` and `just flame` need them
    #[command(hide = true)]
    Keep(keep::Options),
    /// Check instructions that gungraun counted; `just bench-instructions` pipes them in
    #[command(hide = true)]
    Instructions(instructions::Options),
    /// Put load on a server, as `bench` asks on standard input
    #[command(hide = true)]
    Generate,
    /// Run somebody else's server so that it ends when `lab` does
    #[cfg(unix)]
    #[command(hide = true)]
    Supervise(supervise::Options),
    /// Draw the raw flame graph of what `perf` recorded, for `flame`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    RawGraph(raw_graph::Options),
    /// Measure the load generator itself against wrk
    BenchGenerator(bench_generator::Options),
    /// Serve the least that is HTTP, for `bench-generator`
    #[command(hide = true)]
    Answer,
}

/// Beside the cases' results inside the workspace, and in `target/lab` anywhere else.
fn results(places: &Places) -> anyhow::Result<PathBuf> {
    match Workspace::find(places) {
        Ok(workspace) => Ok(workspace.results()),
        Err(_) => Ok(std::env::current_dir()
            .context("cannot read the current directory")?
            .join("target/lab")),
    }
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
            // First the signal: from a terminal the servers get it too, and their deaths are no news.
            biased;
            signal = told_to_end() => {
                signal.context("cannot wait for signals")?;
                Ok(Ended::Interrupted)
            }
            result = verb => result.map(Ended::Finished),
        }
    })
}

/// Completes on Ctrl-C, and on SIGTERM where there is such a thing.
async fn told_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
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

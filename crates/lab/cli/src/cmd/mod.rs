//! The verbs of `lab`, a file each.

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
mod interrupt;
pub mod list;
pub mod own_server;
mod places;
#[cfg(target_os = "linux")]
pub mod raw_graph;
pub mod record;
pub mod report;
pub mod schema;
#[cfg(unix)]
pub mod supervise;
pub mod verify;

use clap::{Parser, Subcommand};

use interrupt::{Ended, interrupted, interruptible};
use places::Places;

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

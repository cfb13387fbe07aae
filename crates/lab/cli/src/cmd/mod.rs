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
pub mod keep;
pub mod list;
pub mod own_server;
mod places;
#[cfg(target_os = "linux")]
pub mod raw_graph;
pub mod record;
pub mod report;
#[cfg(unix)]
pub mod supervise;
pub mod verify;

use clap::{Parser, Subcommand};

use interrupt::{Ended, interrupted, interruptible};
use places::Places;

/// Measures slow servers against their fixed variants.
#[derive(Debug, Parser)]
#[command(name = "lab", version, arg_required_else_help = true)]
pub struct Lab {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub places: Places,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the cases and their variants
    List,
    /// Find what distorts figures on this machine, and how to fix it
    Doctor(doctor::Options),
    /// Measure `slow` against `fixed` under the case's load
    Bench(bench::Options),
    /// Compare two builds of your own server, in any language
    Compare(Box<compare::Options>),
    /// Draw where the time goes, before and after the fix
    Flame(Box<flame::Options>),
    /// List the earlier runs of a case
    History(history::Options),
    /// Print two runs side by side
    Diff(diff::Options),
    /// Write a run as one HTML page with charts and all figures
    Report(report::Options),
    /// Print a run as Markdown, CSV or JSON
    Export(export::Options),
    /// Publish the newest results as a record; `just record` measures them first
    Record(record::Options),
    /// Write figures and excerpts into the course, or check them
    Docs(docs::Options),
    /// Send every server its requests once and check the answers
    Verify(verify::Options),
    /// Count what a page costs each variant: allocations, system calls, connections
    Count(count::Options),
    /// Keep the binaries of a special build for `just count` and `just flame`
    #[command(hide = true)]
    Keep(keep::Options),
    /// Check gungraun's instruction counts; `just bench-instructions` pipes them in
    #[command(hide = true)]
    Instructions(instructions::Options),
    /// Put load on a server; the load plan comes from standard input
    #[command(hide = true)]
    Generate,
    /// Run a server that does not watch its parent, and end it with `lab`
    #[cfg(unix)]
    #[command(hide = true)]
    Supervise(supervise::Options),
    /// Draw the raw flame graph of what `perf` recorded, for `flame`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    RawGraph(raw_graph::Options),
    /// Measure the load generator itself against wrk
    BenchGenerator(bench_generator::Options),
    /// Serve a minimal HTTP answer for `bench-generator`
    #[command(hide = true)]
    Answer,
}

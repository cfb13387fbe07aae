//! The binary `lab`: it starts the servers of a case, puts load on them and compares them.
//!
//! Each verb is one file of `cmd/`. `servers/` runs servers as child processes, `bench/` compares
//! them, `count/` counts what a visit costs, and `watch/` records profiles.
//!
//! `lab` depends on no code of a case. It uses the case file, the line `listening on
//! http://127.0.0.1:PORT`, and HTTP, so a case could be any service.

/// Like `println!`, but does not panic if the reader is gone, as after `| head`.
macro_rules! out {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($part)*);
    }};
}

mod bench;
mod bench_generator;
pub mod chart;
mod cmd;
mod count;
pub mod docs;
pub mod flame;
pub mod record;
pub mod report;
mod servers;
mod watch;

// The crates below by the names that they had as modules.
use clap::Parser as _;
use cmd::{Command, Lab};
use lab_case as case;
use lab_case as workspace;
use lab_display as display;
use lab_display::{page, picture};
use lab_doctor as doctor;
use lab_load as load;
use lab_load::process;
use lab_record as files;
use lab_record as machine;
use lab_record as store;
use lab_record::criterion;
use lab_stats as stats;
use servers::{affinity, binaries, launch, requests, revisions, server};
use std::process::ExitCode;

/// Runs the verb of the command line.
pub fn run() -> ExitCode {
    let lab = Lab::parse();
    let result = match lab.command {
        Command::List => cmd::list::run(&lab.places),
        Command::Doctor(options) => {
            cmd::doctor::run(&lab.places, &options, lab_doctor::noise_floor::cpu)
        }
        Command::Bench(options) => cmd::bench::run(&lab.places, &options),
        Command::Compare(options) => Ok(cmd::compare::run(&lab.places, &options)),
        Command::Flame(options) => cmd::flame::run(&lab.places, &options),
        Command::History(options) => cmd::history::run(&lab.places, &options),
        Command::Diff(options) => cmd::diff::run(&lab.places, &options),
        Command::Report(options) => cmd::report::run(&lab.places, &options),
        Command::Export(options) => cmd::export::run(&lab.places, &options),
        Command::Record(options) => cmd::record::run(&lab.places, &options),
        Command::Docs(options) => cmd::docs::run(&lab.places, &options),
        Command::Verify(options) => cmd::verify::run(&lab.places, &options),
        Command::Count(options) => cmd::count::run(&lab.places, &options),
        Command::Keep(options) => cmd::keep::run(&lab.places, &options),
        Command::Instructions(options) => cmd::instructions::run(&lab.places, &options),
        Command::Generate => cmd::generate::run(),
        #[cfg(unix)]
        Command::Supervise(options) => cmd::supervise::run(&options),
        #[cfg(target_os = "linux")]
        Command::RawGraph(options) => cmd::raw_graph::run(&options),
        Command::BenchGenerator(options) => cmd::bench_generator::run(&options),
        Command::Answer => bench_generator::answer::run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

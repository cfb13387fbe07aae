//! `lab`: one verb, one file under `cmd/`. Here they are only told apart.

use std::process::ExitCode;

use clap::Parser as _;
use lab::{
    bench_generator::answer,
    cmd::{self, Command, Lab},
};

fn main() -> ExitCode {
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
        Command::Schema => cmd::schema::run(),
        Command::Docs(options) => cmd::docs::run(&lab.places, &options),
        Command::Verify(options) => cmd::verify::run(&lab.places, &options),
        Command::Count(options) => cmd::count::run(&lab.places, &options),
        Command::Instructions(options) => cmd::instructions::run(&lab.places, &options),
        Command::Generate => cmd::generate::run(),
        #[cfg(unix)]
        Command::Supervise(options) => cmd::supervise::run(&options),
        #[cfg(target_os = "linux")]
        Command::RawGraph(options) => cmd::raw_graph::run(&options),
        Command::BenchGenerator(options) => cmd::bench_generator::run(&options),
        Command::Answer => answer::run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! `lab`: one verb, one file under `cmd/`. Here they are only told apart.

use std::process::ExitCode;

use clap::Parser as _;
use lab::cmd::{self, Command, Lab};

fn main() -> ExitCode {
    let lab = Lab::parse();
    let result = match lab.command {
        Command::List => cmd::list::run(&lab.places),
        Command::Bench(options) => cmd::bench::run(&lab.places, &options),
        Command::Verify(options) => cmd::verify::run(&lab.places, &options),
        Command::Count(options) => cmd::count::run(&lab.places, &options),
        Command::Instructions(options) => cmd::instructions::run(&lab.places, &options),
        Command::Generate => cmd::generate::run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

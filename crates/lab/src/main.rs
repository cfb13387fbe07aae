//! `lab`: one verb, one file under `cmd/`. Here they are only told apart.

use std::process::ExitCode;

use clap::Parser as _;
use lab::{
    cmd::{self, Command, Lab},
    doctor,
};

fn main() -> ExitCode {
    let lab = Lab::parse();
    let result = match lab.command {
        Command::List => cmd::list::run(&lab.places),
        Command::Doctor(options) => {
            cmd::doctor::run(&lab.places, &options, doctor::noise_floor::cpu)
        }
        Command::Bench(options) => cmd::bench::run(&lab.places, &options),
        Command::Verify(options) => cmd::verify::run(&lab.places, &options),
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

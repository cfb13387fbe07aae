//! Writes the body of the case's request to standard output: for the load generator, and for
//! `double-parse-batch | curl --data-binary @- URL/summary`.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use clap::Parser;

/// Writes the raw BSON that a database answers to a find, the same on every machine
#[derive(Parser)]
struct Options {
    /// Documents in the reply, of 80 bytes each; the service refuses a body of more than about 48,000
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    documents: u32,
}

fn main() -> ExitCode {
    match write_reply(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write_reply(options: &Options) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    ensure!(
        !stdout.is_terminal(),
        "raw BSON is not readable on a terminal; pipe it into `curl --data-binary @-` or a file"
    );
    let reply = double_parse::batch::find_reply(options.documents);
    stdout.write_all(&reply).and_then(|()| stdout.flush()).context("cannot write the reply")
}

//! `lab generate`: our own load generator as an engine, a process of its own.

use std::process::ExitCode;

use anyhow::Context as _;
use lab_protocol::LoadPlan;
use lab_system::out;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{block_on, closed, interrupt::piped_stdin};

/// Reads a [`LoadPlan`] from the first line of standard input, runs it, and prints the
/// [`lab_protocol::Outcome`]. Exits at once when standard input closes, as it does when `lab` dies.
pub fn run() -> anyhow::Result<ExitCode> {
    let outcome = block_on(async {
        let mut stdin = BufReader::new(piped_stdin()?);
        let mut plan = String::new();
        stdin.read_line(&mut plan).await.context("cannot read the load plan")?;
        let plan: LoadPlan = serde_json::from_str(&plan).context("the load plan is invalid")?;
        tokio::select! {
            outcome = lab_load::run(&plan) => outcome.map(Some),
            () = closed(stdin) => Ok(None),
        }
    })?;
    match outcome {
        Some(outcome) => {
            out!("{}", serde_json::to_string(&outcome)?);
            Ok(ExitCode::SUCCESS)
        }
        None => Ok(ExitCode::FAILURE),
    }
}

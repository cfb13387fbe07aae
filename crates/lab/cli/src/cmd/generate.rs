//! `lab generate`: the load generator's process. `bench` starts it and speaks JSON with it.

use std::process::ExitCode;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::{
    affinity,
    load::{self, Plan},
};

/// Reads a [`Plan`] from the first line of standard input, carries it out, and prints the
/// [`load::Outcome`]. Ends at once when standard input closes, as it does when `lab` dies.
pub fn run() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let mut stdin = BufReader::new(tokio::io::stdin());
        let mut plan = String::new();
        stdin.read_line(&mut plan).await.context("cannot read the plan")?;
        let plan: Plan = serde_json::from_str(&plan).context("the plan is not one of ours")?;
        // The thread that reads standard input stays free; it has nothing to do but to wait.
        if plan.pin {
            affinity::pin_generator();
        }
        let parent_gone = async {
            let mut rest = [0; 64];
            while stdin.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        };
        tokio::select! {
            outcome = load::run(&plan) => outcome.map(Some),
            () = parent_gone => Ok(None),
        }
    })?;
    // A read of standard input may be under way on a thread that cannot be stopped.
    runtime.shutdown_background();
    match outcome {
        Some(outcome) => {
            println!("{}", serde_json::to_string(&outcome)?);
            Ok(ExitCode::SUCCESS)
        }
        None => Ok(ExitCode::FAILURE),
    }
}

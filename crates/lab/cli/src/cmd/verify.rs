//! `lab verify`: every server starts, answers its case's requests rightly, and stops.

use std::process::ExitCode;

use super::{Ended, Places, interrupted, interruptible};
use crate::{
    bench::{ask_once, asks},
    launch::Launch,
};

/// What to verify.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
}

/// Starts each variant of each case as a process of its own and checks its answers.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let cases = workspace.cases_named(&options.cases)?;
    let verified = interruptible(async {
        let mut all_right = true;
        for case in &cases {
            let files = tempfile::tempdir()?;
            let asks = asks(&workspace, case, files.path()).await?;
            for variant in &case.variants {
                let launch = Launch::of_case(&workspace, case, variant)?;
                let faults = ask_once(&launch, &asks).await?;
                let verdict = if faults.is_empty() { "ok" } else { "WRONG" };
                out!("{}-{variant}: {verdict}", case.name);
                faults.iter().for_each(|fault| out!("  {fault}"));
                all_right &= faults.is_empty();
            }
        }
        Ok(all_right)
    })?;
    match verified {
        Ended::Interrupted => Ok(interrupted()),
        Ended::Finished(true) => Ok(ExitCode::SUCCESS),
        Ended::Finished(false) => Ok(ExitCode::FAILURE),
    }
}

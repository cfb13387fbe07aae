//! `lab practice prepare`: builds all that the course needs, and names none of it.

use std::process::ExitCode;

use lab_cases::Workspace;
use lab_model::Exhibit;
use lab_report::say;
use lab_servers::{
    build_servers,
    instrumented::{self, Instrumentation},
};
use lab_system::{err, out};

use crate::cmd::interruptible;

/// The exit code that shells use for it.
const INTERRUPTED: u8 = 130;
/// What the course runs besides servers of cases.
const OTHERS: [&str; 2] = ["lab-flamegraph", "mystery"];

pub fn run(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let mut cases = workspace.cases_and_exercises()?;
    // A contest is built by those who enter it.
    cases.retain(|case| case.contest.is_none());
    let servers = cases.iter().flat_map(|case| {
        let variants = case.variants.iter().map(|variant| case.server(variant));
        variants.chain(case.companions.iter().map(|companion| companion.bin.clone()))
    });
    let binaries: Vec<_> = servers.chain(OTHERS.map(str::to_owned)).collect();
    let sampled: Vec<_> =
        cases.iter().filter(|case| case.flame.contains(&Exhibit::Allocations)).cloned().collect();
    let built = interruptible(async {
        let step = |nth, what: &str| err!("  {}  {what}", say!("{nth} of 4", nth));
        step(1, &say!("the servers to measure"));
        build_servers(workspace, &binaries, &[]).await?;
        for (nth, what, instrumentation, cases) in [
            (2, say!("the servers that count what they do"), Instrumentation::Counts, &cases),
            (3, say!("the servers that record what they wait for"), Instrumentation::Spans, &cases),
            (4, say!("the servers that record their memory"), Instrumentation::Heap, &sampled),
        ] {
            step(nth, &what);
            instrumented::build(workspace, cases, instrumentation).await?;
        }
        Ok(())
    })?;
    if built.is_none() {
        let left = say!("interrupted: what is built stays, and `just prepare` goes on from there");
        err!("\n{left}");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    out!("\n{}", say!("Everything that the course needs is built."));
    Ok(ExitCode::SUCCESS)
}

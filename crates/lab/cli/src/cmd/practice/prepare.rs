//! `lab practice prepare`: builds all that the course needs, and names none of it.

use std::process::ExitCode;

use lab_cases::Workspace;
use lab_protocol::Exhibit;
use lab_report::translate;
use lab_servers::{
    build_servers,
    instrumented::{self, Instrumentation},
};
use lab_system::{err, out};

use crate::cmd::{INTERRUPTED, interruptible};

/// The packages of programs that the course runs besides the servers of cases.
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
        let step = |nth, what: &str| err!("  {}  {what}", translate!("{nth} of 4", nth));
        step(1, &translate!("the servers to measure"));
        build_servers(workspace, &binaries, &[]).await?;
        for (nth, what, instrumentation, cases) in [
            (2, translate!("the servers that count what they do"), Instrumentation::Counts, &cases),
            (
                3,
                translate!("the servers that record what they wait for"),
                Instrumentation::Spans,
                &cases,
            ),
            (
                4,
                translate!("the servers that record their memory"),
                Instrumentation::Heap,
                &sampled,
            ),
        ] {
            step(nth, &what);
            instrumented::build_instrumented(workspace, cases, instrumentation).await?;
        }
        Ok(())
    })?;
    if built.is_none() {
        let left =
            translate!("interrupted: what is built stays, and `just prepare` goes on from there");
        err!("\n{left}");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    out!("\n{}", translate!("Everything that the course needs is built."));
    Ok(ExitCode::SUCCESS)
}

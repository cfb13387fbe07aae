//! `lab doctor`: what distorts figures on this machine, and how to fix it.

use std::process::ExitCode;

use lab_display::out;
use lab_system::{
    System,
    doctor::{self, Status},
    open_files,
};

use super::Places;

/// Checks the machine. Fails if a measurement would.
pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let findings = doctor::examine(&System::this(open_files(connections(places))));
    let term = console::Term::stdout();
    let width = term.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    out!("{}", doctor::text(&findings, width).trim_end());
    out!("\n{}", doctor::summary(&findings));
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Of the case that opens most.
fn connections(places: &Places) -> usize {
    let cases = places.workspace().and_then(|workspace| workspace.cases()).unwrap_or_default();
    let connections = cases.iter().map(|case| case.load.users * case.load.connections);
    connections.max().unwrap_or(3_000)
}

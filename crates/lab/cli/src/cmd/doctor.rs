//! `lab doctor`: what distorts figures on this machine, and how to fix it.

use std::process::ExitCode;

use lab_doctor::{Needs, Status, System};
use lab_load::open_files;

use super::Places;

/// Checks the machine. Fails if a measurement would.
pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let findings = lab_doctor::examine(&System::this(needs(places)));
    let term = console::Term::stdout();
    let width = term.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    out!("{}", lab_doctor::text(&findings, width).trim_end());
    out!("\n{}", lab_doctor::summary(&findings));
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the cases need: nothing outside the workspace.
fn needs(places: &Places) -> Needs {
    let Ok(workspace) = places.workspace() else {
        return Needs { open_files: open_files(3_000), ..Needs::default() };
    };
    let cases = workspace.cases().unwrap_or_default();
    let connections = cases.iter().map(|case| case.load.users * case.load.connections).max();
    let binaries = cases.iter().flat_map(|case| {
        let servers = case.variants.iter().map(|variant| case.server(variant));
        servers.chain(case.helpers().cloned()).collect::<Vec<_>>()
    });
    Needs {
        open_files: open_files(connections.unwrap_or(3_000)),
        binaries: binaries.collect(),
        bin_dir: Some(workspace.bin_dir().to_owned()),
    }
}

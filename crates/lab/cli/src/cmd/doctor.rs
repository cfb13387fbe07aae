//! `lab doctor`: what distorts figures on this machine, and how to fix it.

use std::process::ExitCode;

use lab_doctor::{Finding, Needs, NoiseFloor, Status, System};
use lab_load::open_files;
use serde::Serialize;

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    /// Every line, including the noise floor's.
    findings: Vec<Finding>,
    noise_floor: Option<NoiseFloor>,
}

/// Checks the machine and measures its noise floor. Fails if a measurement would.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let mut findings = lab_doctor::examine(&System::this(needs(places)));
    let term = console::Term::stdout();
    let width = term.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    let print = |findings: &[Finding]| {
        if !options.json {
            out!("{}", lab_doctor::text(findings, width).trim_end());
        }
    };
    print(&findings);
    let noise_floor = NoiseFloor::measure();
    if let Some(noise_floor) = &noise_floor {
        let finding = noise_floor.finding();
        print(std::slice::from_ref(&finding));
        findings.push(finding);
    }
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    if options.json {
        out!("{}", serde_json::to_string(&Document { findings, noise_floor })?);
    } else {
        out!("\n{}", lab_doctor::summary(&findings));
    }
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

//! `lab doctor`: what makes figures wrong on this machine, and how to mend it.

use std::process::ExitCode;

use serde::Serialize;

use super::Places;
use crate::doctor::{self, Finding, Needs, NoiseFloor, Status, System};

/// How to tell it.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    /// Every line, the noise floor's too.
    findings: Vec<Finding>,
    /// The measurement behind the last one.
    noise_floor: Option<NoiseFloor>,
}

/// Looks at the machine, measures its noise floor with `noise_floor`, and fails if a measurement
/// would.
pub fn run(
    places: &Places,
    options: &Options,
    noise_floor: impl FnOnce() -> anyhow::Result<Option<NoiseFloor>>,
) -> anyhow::Result<ExitCode> {
    let system = System::this(needs(places));
    let mut findings = doctor::examine(&system);
    let term = console::Term::stdout();
    let width = term.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    if !options.json {
        out!("{}", doctor::text(&findings, width));
    }
    let noise_floor = noise_floor()?;
    let finding = NoiseFloor::finding(noise_floor.as_ref());
    if !options.json {
        out!("{}", doctor::text(std::slice::from_ref(&finding), width).trim_end());
    }
    findings.push(finding);
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    if options.json {
        out!("{}", serde_json::to_string(&Document { findings, noise_floor })?);
    } else {
        out!("\n{}", doctor::summary(&findings));
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the cases need. The doctor also helps outside the workspace, so that no case is no error.
fn needs(places: &Places) -> Needs {
    let Ok(workspace) = places.workspace() else {
        return Needs { open_files: open_files(3_000), ..Needs::default() };
    };
    let cases = workspace.cases().unwrap_or_default();
    let connections = cases.iter().map(|case| case.load.users * case.load.connections).max();
    let binaries = cases.iter().flat_map(|case| {
        let variants = case.variants.iter().map(|variant| format!("{}-{variant}", case.name));
        let companions = case.companions.iter().map(|companion| companion.bin.clone());
        let bodies =
            case.requests.iter().filter_map(|request| Some(request.body.as_ref()?.bin.clone()));
        variants.chain(companions).chain(bodies).collect::<Vec<_>>()
    });
    Needs {
        open_files: open_files(connections.unwrap_or(3_000)),
        binaries: binaries.collect(),
        bin_dir: Some(workspace.bin_dir().to_owned()),
    }
}

/// The open files of so many connections, as [`crate::load::allow_connections`] asks for them.
fn open_files(connections: usize) -> u64 {
    2 * connections as u64 + 100
}

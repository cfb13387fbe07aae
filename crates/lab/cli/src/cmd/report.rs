//! `lab report`: a run as one page that needs nothing but itself.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use lab_course::report;
use lab_display::out;
use lab_model::{Record, Store, Workspace, read};

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Write the page to this file, instead of `report.html` next to the runs
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Writes the page and prints where it is.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let results = places.results()?;
    let record = read(&Store::new(&results).find(&options.run)?)?;
    let workspace = places.workspace().ok();
    let path = options.output.clone().unwrap_or_else(|| page(&results));
    write(workspace.as_ref(), &results, &record, &path)?;
    out!("  Report     {}", lab_display::path(&path));
    if options.open {
        super::open(&path)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn page(results: &Path) -> PathBuf {
    results.join("report.html")
}

pub fn write(
    workspace: Option<&Workspace>,
    results: &Path,
    record: &Record,
    path: &Path,
) -> anyhow::Result<()> {
    let cases = workspace.and_then(|workspace| workspace.cases().ok()).unwrap_or_default();
    report::write(record, &cases, &results.join("flame"), path)
}

//! `lab report`: a run as one page that needs nothing but itself.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::ensure;
use lab_cases::Workspace;
use lab_pictures::report;
use lab_report::{Record, Store, read};
use lab_stats::Verdict;
use lab_system::{out, write_whole};

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
    /// Write a comment for a pull request to this file, instead of the page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["open", "output"])]
    pub markdown: Option<PathBuf>,
}

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let results = places.results()?;
    let record = read(&Store::new(&results).find(&options.run)?)?;
    if let Some(file) = &options.markdown {
        write_whole(file, &comment(&record)?)?;
        out!("  Comment    {}", lab_report::path(file));
        return Ok(ExitCode::SUCCESS);
    }
    let path =
        write(places.workspace().ok().as_ref(), &results, &record, options.output.as_deref())?;
    out!("  Report     {}", lab_report::path(&path));
    if options.open {
        super::open(&path);
    }
    Ok(ExitCode::SUCCESS)
}

/// The comment on a record that may come from anywhere: its verdict has to agree with its figures.
fn comment(record: &Record) -> anyhow::Result<String> {
    ensure!(!record.cases.is_empty(), "the record has no comparison");
    for case in &record.cases {
        let shown = case.judged_by(case.metric).0;
        ensure!(
            [shown, Verdict::Undecided].contains(&case.verdict),
            "the record says `{}`, but its figures say `{shown}`: measure again",
            case.verdict
        );
    }
    Ok(lab_report::render_comment(record))
}

/// Writes the page to `output`, or next to the runs; returns its path.
pub fn write(
    workspace: Option<&Workspace>,
    results: &Path,
    record: &Record,
    output: Option<&Path>,
) -> anyhow::Result<PathBuf> {
    let cases = workspace.and_then(|workspace| workspace.cases().ok()).unwrap_or_default();
    let path = output.map_or_else(|| results.join("report.html"), Path::to_owned);
    report::write(record, &cases, &results.join("flame"), &path)?;
    Ok(path)
}

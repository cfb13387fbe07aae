//! `lab history CASE`: what earlier runs said of a case.

use std::process::ExitCode;

use super::Places;
use crate::{
    display::{self, NONE, speedup},
    store::{Store, read},
};

/// Which history.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The case; `compare` for what `lab compare` has measured
    #[arg(value_name = "CASE")]
    pub case: String,
}

/// Lists all runs that measured the case, the oldest first. A file that cannot be read is named and
/// passed over.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    if options.case != "compare" {
        workspace.cases_named(std::slice::from_ref(&options.case))?;
    }
    let mut rows = Vec::new();
    let mut unread = Vec::new();
    for path in Store::new(&workspace.results()).paths()? {
        let record = match read(&path) {
            Ok(record) => record,
            Err(error) => {
                unread.push(error);
                continue;
            }
        };
        let commit = match (&record.build.commit, record.build.dirty) {
            (Some(commit), Some(true)) => format!("{}+", &commit[..commit.len().min(9)]),
            (Some(commit), _) => commit[..commit.len().min(9)].to_owned(),
            (None, _) => NONE.to_owned(),
        };
        for case in record.cases.iter().filter(|case| case.case == options.case) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let noise = case.control.speedup.throughput;
            rows.push(vec![
                name.into_owned(),
                commit.clone(),
                case.pairs.to_string(),
                case.speedup.throughput.map_or(NONE.into(), |found| speedup(&found)),
                case.speedup.cpu_per_request.map_or(NONE.into(), |found| speedup(&found)),
                noise.map_or(NONE.into(), |control| display::noise(&control)),
            ]);
        }
    }
    if let Some(error) = unread.last() {
        eprintln!(
            "note: {} runs cannot be read and were left as they are; the last: {error:#}\n",
            unread.len()
        );
    }
    if rows.is_empty() {
        out!("no run of {0} is kept; `lab bench {0}` makes one", options.case);
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["run", "commit", "pairs", "by req/s", "by CPU per req", "A/A noise"];
    out!("{}", display::table(&header, rows).trim_fmt());
    out!("\n  A + marks a tree with changes that no commit has.");
    Ok(ExitCode::SUCCESS)
}

//! `lab history CASE`: the earlier runs of a case.

use std::process::ExitCode;

use lab_display::{NONE, speedup_or};
use lab_record::{Build, Store, read};

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The case, or `compare` for the runs of `lab compare`
    #[arg(value_name = "CASE")]
    pub case: String,
}

/// Lists all runs of the case, the oldest first. Skips unreadable files with a note.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    // `lab compare` needs no workspace.
    let of_compare = options.case == "compare";
    if !of_compare {
        places.workspace()?.cases_named(std::slice::from_ref(&options.case))?;
    }
    let mut rows = Vec::new();
    let mut unread = Vec::new();
    for path in Store::new(&places.results()?).paths()? {
        let record = match read(&path) {
            Ok(record) => record,
            Err(error) => {
                unread.push(error);
                continue;
            }
        };
        for case in record.cases.iter().filter(|case| case.case == options.case) {
            let noise = case.control.speedup.throughput;
            rows.push(vec![
                path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                commit(&record.build),
                case.pairs.to_string(),
                speedup_or(NONE, case.speedup.throughput),
                speedup_or(NONE, case.speedup.cpu_per_request),
                noise.map_or(NONE.into(), |control| lab_display::noise(&control)),
            ]);
        }
    }
    if let Some(error) = unread.last() {
        eprintln!("note: {} runs cannot be read; the last: {error:#}\n", unread.len());
    }
    if rows.is_empty() {
        let verb = if of_compare { "lab" } else { "lab bench" };
        out!("there is no run of {0} yet; `{verb} {0}` makes one", options.case);
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["run", "commit", "pairs", "by req/s", "by CPU per req", "A/A noise"];
    out!("{}", lab_display::table(&header, rows));
    out!("\n  A + marks uncommitted changes.");
    Ok(ExitCode::SUCCESS)
}

fn commit(build: &Build) -> String {
    let Some(commit) = &build.commit else { return NONE.to_owned() };
    let mark = if build.dirty == Some(true) { "+" } else { "" };
    format!("{}{mark}", &commit[..commit.len().min(9)])
}

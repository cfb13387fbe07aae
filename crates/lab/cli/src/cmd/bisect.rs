//! `lab bisect`: which commit, or which crate of the lock file, made a server or a bench slower.

mod confirm;
mod journal;
mod programs;
mod rounds;
mod search;
mod states;

use std::process::ExitCode;

use lab_protocol::Metric;
use lab_report::{
    ComparisonAnswer, Record, SearchAnswer, Store, render_screen, render_search,
    search_for_programs, to_json,
};
use lab_servers::Scratch;
use lab_system::{Build, err, out};

use super::{
    Places, interrupted, interruptible,
    server_options::{OwnLoad, OwnServer},
};
use journal::SearchJournal;
use programs::ProgramOptions;
use search::{SearchResult, search};

/// Finds the commit that made a server or a bench slower, or the crate of its lock file. Each state in the middle is
/// built and measured next to both ends until the runs show which of them it is like. The commit that is left is then
/// compared with the one before it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Exit code: 0 found, 3 not found or not confirmed, 2 error. --help has all options and examples.",
    after_long_help = "\
Examples:
  lab bisect --rev v1.4.0 --rev main --bin my-server --get /users
  lab bisect --rev v1.4.0 --rev main --bin my-server --get /users --lock
  lab bisect --rev v1.4.0 --rev main --bench parse 'large document'

If the commit that is found touches only Cargo.lock, the search goes on among its crates. After Ctrl-C, the same
command goes on where it was.

Exit code: 0 found, 3 not found or not confirmed, 2 error."
)]
pub struct Options {
    #[command(flatten)]
    program: ProgramOptions,
    #[command(flatten)]
    server: OwnServer,
    #[command(flatten)]
    load: OwnLoad,
    /// What became worse [default: throughput]
    #[arg(long, help_heading = "Verdict", value_parser = super::effort::metrics_of_rounds())]
    metric: Option<Metric>,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Options {
    fn metric(&self) -> Metric {
        if self.program.is_bench() { Metric::Time } else { self.metric.unwrap_or_default() }
    }
}

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    options.program.ensure_possible()?;
    let store = Store::new(&places.results()?);
    store.ensure_writable()?;
    let files = Scratch::new()?;
    let mut found = SearchResult::default();
    let end = interruptible(search(places, options, files.path(), &mut found));
    let SearchResult { answers, record, journals } = found;
    if answers.is_empty() {
        end?;
        return Ok(interrupted("what was decided is kept: the same command goes on"));
    }
    let kept = match &record {
        None => None,
        Some(case) => {
            let mut record = Record::new(false, Build::unknown());
            record.cases = vec![case.clone()];
            Some(store.keep(record.created, &to_json(&record)?)?)
        }
    };
    if options.json {
        out!("{}", search_for_programs(&answers, kept.as_deref()));
    } else {
        out!("{}", answers.iter().map(render_search).collect::<Vec<_>>().join("\n\n"));
        if let Some(case) = &record {
            let answer = ComparisonAnswer::of_case(case);
            out!("\n{}", render_screen("", &answer, "a page: lab report --open"));
        }
    }
    if let Some(path) = kept {
        err!("  Results    {}", path.display());
    }
    if end?.is_none() {
        return Ok(interrupted("what was found is kept: the same command goes on"));
    }
    journals.into_iter().for_each(SearchJournal::end);
    Ok(ExitCode::from(if answers.iter().any(SearchAnswer::is_confirmed) { 0 } else { 3 }))
}

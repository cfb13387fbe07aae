//! `lab practice bench`: what the reader expects of a case, and what is measured next to it.

use std::process::ExitCode;

use lab_cases::Workspace;
use lab_practice::Entry;

use super::predict;
use crate::cmd::{
    Places,
    bench::{self, Options},
};

/// Asks for a prediction if one case is measured and has none.
pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    if let [case] = &workspace.cases_with_mine(&options.cases)?[..]
        && !options.json
    {
        predict::ask_if_none(workspace, case)?;
    }
    bench::run_with(places, options, &|case, record| {
        Entry::keep_measured(workspace, case, &record.speedup)?;
        let entry = Entry::of(workspace, case)?;
        let remarks = [entry.compare(case, &record.speedup), entry.test(case), entry.source(case)];
        Ok(remarks.into_iter().flatten().collect())
    })
}

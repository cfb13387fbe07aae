//! `lab practice bench`: what the reader expects of a case, and what is measured next to it.

use std::{cell::Cell, process::ExitCode};

use lab_cases::Workspace;
use lab_practice::Entry;

use super::{list, predict};
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
    let is_closed = Cell::new(false);
    let code = bench::run_with(places, options, &|case, record| {
        let was_open = Entry::of(workspace, case)?.measured.is_none();
        Entry::keep_measured(workspace, case, &record.speedup)?;
        let entry = Entry::of(workspace, case)?;
        is_closed.set(is_closed.get() || was_open && entry.measured.is_some());
        let remarks = [entry.compare(case, &record.speedup), entry.test(case), entry.source(case)];
        Ok(remarks.into_iter().flatten().collect())
    })?;
    if is_closed.get() && !options.json {
        list::print_guesses(workspace)?;
    }
    Ok(code)
}

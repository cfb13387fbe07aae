//! `lab list`: the cases by name.

use std::process::ExitCode;

use super::Places;
use crate::{display, workspace::Workspace};

/// Prints each case with what is wrong in it, and its variants.
pub fn run(places: &Places) -> anyhow::Result<ExitCode> {
    let cases = Workspace::find(places)?.cases()?;
    let rows = cases.into_iter().map(|case| vec![case.name, case.title, case.variants.join(", ")]);
    let mut table = display::table(&["case", "what is wrong", "variants"], rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    println!("{}", table.trim_fmt());
    Ok(ExitCode::SUCCESS)
}

//! The cases that can be practised, in the order of the course, and by the names that the course uses.

use std::fs;

use lab_cases::{Case, Workspace};

use crate::translated::in_language;

/// The course's table of contents, next to the pages.
const CONTENTS: &str = "docs/src/SUMMARY.md";

/// All cases and exercises that can be practised. What the contents don't list comes last.
///
/// # Errors
///
/// If a case file or a translation cannot be read.
pub fn course(workspace: &Workspace) -> anyhow::Result<Vec<Case>> {
    let contents = fs::read_to_string(workspace.root().join(CONTENTS)).unwrap_or_default();
    let place = |case: &Case| {
        let page = case.page();
        contents.find(&format!("]({})", page.trim_start_matches("docs/src/")))
    };
    let cases = workspace.cases_and_exercises()?.into_iter();
    let mut cases: Vec<_> =
        cases.filter(|case| case.check.is_some() || case.contest.is_some()).collect();
    cases.sort_by_key(|case| place(case).unwrap_or(usize::MAX));
    cases.iter().map(|case| in_language(workspace, &case.masked())).collect()
}

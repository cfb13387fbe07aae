//! The cases that can be practised, in the order of the course, and by the names that the course uses.

use std::fs;

use lab_cases::{Case, MINE, Workspace};

use crate::{Entry, translated::in_language};

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

/// Where the reader was: the case whose file was saved last, of those that haven't passed. Without one, the first that
/// hasn't passed; `None` if all have.
///
/// # Errors
///
/// As [`course`]; also if the journal cannot be read.
pub fn latest(workspace: &Workspace) -> anyhow::Result<Option<Case>> {
    let mut open = open(workspace, course(workspace)?)?;
    let saved = |case: &Case| case.source(MINE).metadata().and_then(|file| file.modified()).ok();
    let last = (0..open.len()).filter(|nth| saved(&open[*nth]).is_some());
    let last = last.max_by_key(|nth| saved(&open[*nth]));
    Ok((!open.is_empty()).then(|| open.swap_remove(last.unwrap_or(0))))
}

/// The next one of the course that hasn't passed.
///
/// # Errors
///
/// As [`latest`].
pub fn next_after(workspace: &Workspace, case: &Case) -> anyhow::Result<Option<Case>> {
    let all = course(workspace)?.into_iter();
    let after = all.skip_while(|other| other.name != case.name).skip(1).collect();
    Ok(open(workspace, after)?.into_iter().next())
}

/// Those that a check can judge, and has not passed yet.
fn open(workspace: &Workspace, cases: Vec<Case>) -> anyhow::Result<Vec<Case>> {
    let mut open = Vec::new();
    for case in cases.into_iter().filter(|case| case.check.is_some()) {
        if Entry::of(workspace, &case)?.passed.is_none() {
            open.push(case);
        }
    }
    Ok(open)
}

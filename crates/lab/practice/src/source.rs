//! The reader's source file: begun from `slow`, put back, and compared with our fix.

use std::{fs, path::Path};

use anyhow::{Context as _, ensure};
use lab_cases::{Case, Criteria, FIXED, MINE, SLOW, Workspace, without_expectations};
use lab_report::{prose, translate};
use lab_system::write_new;

use crate::translated::translation;

/// The criteria of a fix.
///
/// # Errors
///
/// If the case cannot be practised.
pub(super) fn criteria(case: &Case) -> anyhow::Result<&Criteria> {
    let missing = || match &case.contest {
        Some(_) => translate!("{case} has no check: `just contest` judges it", case = case.shown),
        None => {
            translate!(
                "{case} cannot be practised: its case.toml has no [check]",
                case = case.shown
            )
        }
    };
    case.check.as_ref().with_context(missing)
}

/// Writes `mine.rs`.
///
/// # Errors
///
/// If the case cannot be practised, or has a `mine.rs`, which is left as it is.
pub fn begin(case: &Case) -> anyhow::Result<()> {
    let path = case.source(MINE);
    let refused = || {
        let (file, case) = (path.display(), &case.shown);
        translate!("{file} was left as it is; `just try {case} --again` begins again", file, case)
    };
    ensure!(!path.exists(), refused());
    if case.contest.is_some() {
        return copy_directory(&case.source(SLOW), &path);
    }
    criteria(case)?;
    write_new(&path, &source(case, SLOW)?)
}

/// Copies a directory with all that is in it.
pub(super) fn copy_directory(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || -> std::io::Result<Vec<_>> {
        fs::create_dir_all(to)?;
        let mut directories = Vec::new();
        for entry in fs::read_dir(from)? {
            let (entry, copied) = (entry?, |name| to.join(name));
            if entry.file_type()?.is_dir() {
                directories.push(entry.file_name());
            } else {
                fs::copy(entry.path(), copied(entry.file_name()))?;
            }
        }
        Ok(directories)
    };
    let directories = copy().with_context(|| format!("cannot copy {}", from.display()))?;
    directories.iter().try_for_each(|name| copy_directory(&from.join(name), &to.join(name)))
}

/// Whether the reader's file is still the copy that [`begin`] made.
///
/// # Errors
///
/// If a source of the case cannot be read.
pub fn is_untouched(case: &Case) -> anyhow::Result<bool> {
    Ok(source(case, MINE)? == source(case, SLOW)?)
}

/// Begins again; the old file becomes `mine.rs.old`, or the old directory `mine.old`.
///
/// # Errors
///
/// If the old file or directory cannot be moved, or if the new one cannot be written.
pub fn begin_again(case: &Case) -> anyhow::Result<()> {
    let path = case.source(MINE);
    let old =
        if path.is_dir() { path.with_extension("old") } else { path.with_extension("rs.old") };
    if path.is_dir() && old.is_dir() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    let moved = fs::rename(&path, old);
    moved.with_context(|| format!("cannot move {}", path.display()))?;
    begin(case)
}

/// A description of our fix, and the diff to it from the reader's file, or from `slow`.
///
/// # Errors
///
/// If a source of the case or a translation cannot be read.
pub fn solution(workspace: &Workspace, case: &Case) -> anyhow::Result<String> {
    let fixed = source(case, FIXED)?;
    let (name, yours) = match fs::read_to_string(case.source(MINE)) {
        Ok(mine) => ("mine.rs", mine),
        Err(_) => ("slow.rs", source(case, SLOW)?),
    };
    let words = match translation(workspace, case)?.and_then(|texts| texts.solution) {
        Some(chinese) => chinese,
        None => case.solution()?,
    };
    let mut diff = diffy::DiffOptions::new();
    diff.set_original_filename(name).set_modified_filename("fixed.rs");
    let [yours, ours] = [&yours, &fixed].map(|text| without_head(text));
    Ok(format!("{}\n\n{}", prose(&words), diff.create_patch(yours, ours)))
}

/// A source without the comment at its top, which says what the variant is.
fn without_head(text: &str) -> &str {
    let head: usize =
        text.split_inclusive('\n').take_while(|line| line.starts_with("//!")).map(str::len).sum();
    text[head..].trim_start_matches('\n')
}

/// A variant's source without its lint expectations, which name the fault.
fn source(case: &Case, variant: &str) -> anyhow::Result<String> {
    let path = case.source(variant);
    let text = fs::read_to_string(&path);
    Ok(without_expectations(&text.with_context(|| format!("cannot read {}", path.display()))?))
}

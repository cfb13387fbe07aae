//! `--mine`: the book with the reader's own figures below the record's.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use lab_model::{CaseRecord, Output, Store, Workspace, origin::origin, read, write_whole};

use super::{
    Book,
    page::{CHAPTERS, Problem, chapters, files_below},
    splice::splice,
};

/// The reader's newest run of each case, and where it comes from in words.
#[derive(Clone, Debug, Default)]
pub struct Mine(pub Vec<(CaseRecord, String)>);

impl Mine {
    /// Finds the newest run of every case. Damaged files are skipped.
    pub fn of(store: &Store) -> anyhow::Result<Self> {
        let mut own = BTreeMap::new();
        for path in store.paths()?.iter().rev() {
            let Ok(record) = read(path) else { continue };
            let origin = origin(&record.command, &record.machine, record.created);
            for case in record.cases {
                own.entry(case.case.clone()).or_insert((case, origin.clone()));
            }
        }
        // `lab compare` stores its runs there too, but they are not of a case of the book.
        own.remove("compare");
        ensure!(!own.is_empty(), "you have not measured anything yet: run `just bench-all`");
        Ok(Self(own.into_values().collect()))
    }
}

/// Writes the chapters with the reader's figures to `book-src` in the directory of results; `docs/`
/// stays as it is. Returns what could not be made.
///
/// Links stay as they are in `docs/src`: the site has the places of the repository.
pub fn write_mine(workspace: &Workspace, book: &Book) -> anyhow::Result<Vec<Problem>> {
    let from = book.root.join(CHAPTERS);
    let output = Output::begin(workspace.results().join("book-src"))?;
    for name in files_below(&from)? {
        let copy = output.dir().join(&name);
        let dir = copy.parent().context("a file has a directory")?;
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        std::fs::copy(from.join(&name), &copy).with_context(|| format!("cannot copy {name}"))?;
    }
    let mut faults = Vec::new();
    for page in chapters(&book.root)? {
        let name = page.path.strip_prefix(&from).context("a chapter is among the chapters")?;
        let spliced = splice(&page, book);
        faults.extend(spliced.faults);
        output.write(&name.to_string_lossy(), &spliced.text)?;
        for picture in spliced.pictures {
            write_whole(&output.dir().join(picture.path), &picture.svg)?;
        }
    }
    if faults.is_empty() {
        output.finish()?;
    }
    Ok(faults)
}

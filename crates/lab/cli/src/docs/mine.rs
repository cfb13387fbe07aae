//! `--mine`: the book with the reader's own figures beside the record's.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};

use super::{
    Sources,
    page::{CHAPTERS, chapters, files_below},
    problem::Problem,
    splice::splice,
    words::{command_line, origin},
};
use crate::{
    bench::CaseRecord,
    files::write_whole,
    store::{Output, Store, read},
    workspace::Workspace,
};

/// The reader's newest run of each case.
#[derive(Clone, Debug)]
pub struct Mine(BTreeMap<String, Own>);

#[derive(Clone, Debug)]
struct Own {
    case: CaseRecord,
    /// What was run, on what, and when.
    origin: String,
}

impl Mine {
    /// Finds the newest run of every case. Files that cannot be read are passed over.
    pub fn of(store: &Store) -> anyhow::Result<Self> {
        let mut own = BTreeMap::new();
        for path in store.paths()?.iter().rev() {
            let Ok(record) = read(path) else { continue };
            for case in record.cases {
                let command = command_line(&record.command);
                let origin = origin(&command, &record.machine, record.created);
                own.entry(case.case.clone()).or_insert(Own { case, origin });
            }
        }
        // What `lab compare` measured is the reader's too, but is no case of the book.
        own.remove("compare");
        ensure!(!own.is_empty(), "you have measured nothing yet: `just bench-all` does");
        Ok(Self(own))
    }

    /// The reader's run of a case, if there is one.
    pub fn case(&self, name: &str) -> Option<&CaseRecord> {
        self.0.get(name).map(|own| &own.case)
    }

    /// Where the reader's figures of a case, or of all cases, come from.
    pub fn footer(&self, case: Option<&str>) -> String {
        let own = self.0.iter().filter(|(name, _)| case.is_none_or(|case| case == *name));
        let mut sources: Vec<_> = own.map(|(_, own)| own.origin.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        match sources.is_empty() {
            true => "Your machine: not measured yet.".to_owned(),
            false => format!("Your machine: {}.", sources.join("; ")),
        }
    }
}

/// Writes the chapters with the reader's figures to `book-src` in the directory of results, as a
/// whole; `docs/` stays as it is. Returns what could not be made.
///
/// Links stay as they are in `docs/src`: the site has the places of the repository, wherever its
/// pages were read from.
pub fn write_mine(workspace: &Workspace, sources: &Sources) -> anyhow::Result<Vec<Problem>> {
    let from = sources.root.join(CHAPTERS);
    let pages = chapters(&sources.root)?;
    let output = Output::begin(workspace.results().join("book-src"))?;
    for name in files_below(&from)? {
        let copy = output.dir().join(&name);
        let dir = copy.parent().context("a file has a directory")?;
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        std::fs::copy(from.join(&name), &copy).with_context(|| format!("cannot copy {name}"))?;
    }
    let mut faults = Vec::new();
    for page in pages {
        let name = page.path.strip_prefix(&from).context("a chapter is among the chapters")?;
        let spliced = splice(&page, sources);
        faults.extend(spliced.faults);
        output.write(&name.to_string_lossy(), &spliced.text)?;
        for (file, text, _) in spliced.files {
            write_whole(&output.dir().join(file), &text)?;
        }
    }
    if faults.is_empty() {
        output.finish()?;
    }
    Ok(faults)
}

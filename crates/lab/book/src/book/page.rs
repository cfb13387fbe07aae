//! The pages: the chapters below `docs/src` and two of the top level; and what may be wrong with them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};

/// The directory of the chapters, below the workspace.
pub const CHAPTERS: &str = "docs/src";

#[derive(Clone, Debug)]
pub struct Page {
    /// Its path below the workspace, with `/` between the parts.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

impl Page {
    fn read(root: &Path, name: &str) -> anyhow::Result<Self> {
        let path = root.join(name);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { name: name.to_owned(), path, text })
    }

    /// The directory that its links start from.
    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// What is wrong with a page, in the form that editors can jump to.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Problem {
    /// The page's path below the workspace.
    pub page: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and how to fix it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.what)
    }
}

/// The line, from 1, of the byte at `offset`.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// All chapters, and the pages of the top level.
pub fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let mut pages = chapters(root)?;
    for name in ["README.md", "CONTRIBUTING.md"].into_iter().filter(|it| root.join(it).is_file()) {
        pages.push(Page::read(root, name)?);
    }
    Ok(pages)
}

pub fn chapters(root: &Path) -> anyhow::Result<Vec<Page>> {
    let dir = root.join(CHAPTERS);
    ensure!(dir.is_dir(), "there is no course: {} is missing", dir.display());
    let mut pages = Vec::new();
    for name in files_below(&dir)?.iter().filter(|name| name.ends_with(".md")) {
        pages.push(Page::read(root, &format!("{CHAPTERS}/{name}"))?);
    }
    Ok(pages)
}

/// The paths of all files below a directory, from there on, sorted.
pub fn files_below(dir: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let below = files_below(&entry.path())?;
            files.extend(below.into_iter().map(|file| format!("{name}/{file}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

//! The pages: the chapters below `docs/src`, the Chinese ones, and two of the top level; and what may be wrong
//! with them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use lab_cases::DRILLS;

/// The directory of the chapters, below the workspace.
pub const CHAPTERS: &str = "docs/src";
/// The Chinese book, its README and its words, below the workspace.
pub const CHINESE: &str = "docs/zh-CN";

#[derive(Clone, Debug)]
pub struct Page {
    /// The path below the workspace, with `/` between the parts.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

impl Page {
    pub(super) fn read(root: &Path, name: &str) -> anyhow::Result<Self> {
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

/// A fault of a page, with its place in a form that editors can jump to.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Problem {
    /// The page's path below the workspace.
    pub page: String,
    /// The line, from 1.
    pub line: usize,
    /// The fault, and how to fix it.
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

/// All chapters in both languages, the drills, and the pages of the top level.
pub fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let dir = root.join(CHAPTERS);
    ensure!(dir.is_dir(), "there is no course: {} is missing", dir.display());
    let mut names = Vec::new();
    collect(root, CHAPTERS, ".md", &mut names)?;
    if root.join(CHINESE).is_dir() {
        collect(root, CHINESE, ".md", &mut names)?;
    }
    if root.join(DRILLS).is_dir() {
        collect(root, DRILLS, ".md", &mut names)?;
        collect(root, DRILLS, ".toml", &mut names)?;
    }
    names.sort();
    let top = ["README.md", "CONTRIBUTING.md"].into_iter().filter(|name| root.join(name).is_file());
    names.extend(top.map(str::to_owned));
    names.iter().map(|name| Page::read(root, name)).collect()
}

/// A picture of the chapters, and where its Chinese form is.
#[derive(Debug)]
pub struct TranslatedPicture {
    pub english: PathBuf,
    pub chinese: PathBuf,
}

/// The pictures of the chapters that a Chinese page shows.
pub fn pictures(root: &Path, pages: &[Page]) -> anyhow::Result<Vec<TranslatedPicture>> {
    let mut names = Vec::new();
    collect(root, CHAPTERS, ".svg", &mut names)?;
    names.sort();
    names.retain(|name| {
        let file = name.rsplit('/').next().unwrap_or(name);
        let mut chinese = pages.iter().filter(|page| page.name.starts_with(CHINESE));
        chinese.any(|page| page.text.contains(file))
    });
    let chinese = |name: &str| root.join(CHINESE).join("src").join(&name[CHAPTERS.len() + 1..]);
    let both =
        |name: &String| TranslatedPicture { english: root.join(name), chinese: chinese(name) };
    Ok(names.iter().map(both).collect())
}

/// Adds the paths of all files with this ending below a directory.
pub(super) fn collect(
    root: &Path,
    dir: &str,
    ending: &str,
    names: &mut Vec<String>,
) -> anyhow::Result<()> {
    let entries = root.join(dir).read_dir().with_context(|| format!("cannot read {dir}"))?;
    for entry in entries {
        let entry = entry?;
        let name = format!("{dir}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(root, &name, ending, names)?;
        } else if name.ends_with(ending) {
            names.push(name);
        }
    }
    Ok(())
}

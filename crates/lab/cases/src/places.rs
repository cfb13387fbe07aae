//! Where the cases are, and where the binaries and the results are.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use crate::{Case, MINE, Reference, unknown_with_secrets};

/// The path of the running `lab`, which also generates load and ends servers.
pub fn lab_itself() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find the path of `lab` itself")
}

/// The directories of the cases, of their binaries and of the results.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The directory with `crates/CASE/case.toml` below it.
    root: PathBuf,
    /// Where the server binaries are.
    bin_dir: PathBuf,
}

impl Workspace {
    /// Finds the workspace around the current directory, and the binaries in the directory of the
    /// running `lab`. `root` and `bin_dir` replace what it would find.
    pub fn find(root: Option<&Path>, bin_dir: Option<&Path>) -> anyhow::Result<Self> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => around(&env::current_dir().context("cannot read the current directory")?)?,
        };
        Ok(Self { root, bin_dir: find_bin_dir(bin_dir)? })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn bin_dir(&self) -> &Path {
        &self.bin_dir
    }

    /// This workspace with its binaries elsewhere.
    pub fn with_bin_dir(&self, bin_dir: PathBuf) -> Self {
        Self { root: self.root.clone(), bin_dir }
    }

    /// The cases of the course.
    pub fn cases(&self) -> anyhow::Result<Vec<Case>> {
        cases_in(&self.root.join("crates"))
    }

    /// The cases, and then the exercises: cases that are only found by their names.
    pub fn cases_and_exercises(&self) -> anyhow::Result<Vec<Case>> {
        let mut cases = self.cases()?;
        let exercises = self.root.join("crates/exercises");
        if exercises.is_dir() {
            cases.extend(cases_in(&exercises)?);
        }
        Ok(cases)
    }

    /// The cases and exercises with these names or aliases, or all cases if there are no names.
    ///
    /// # Errors
    ///
    /// If a name is unknown; the message suggests the nearest.
    pub fn cases_named(&self, names: &[String]) -> anyhow::Result<Vec<Case>> {
        if names.is_empty() {
            return self.cases();
        }
        let cases = self.cases_and_exercises()?;
        let mut picked: Vec<Case> = Vec::new();
        for name in names {
            let is_alias = |case: &&Case| case.alias.as_ref() == Some(name);
            let case = match cases.iter().find(|case| case.name == *name) {
                Some(case) => case.clone(),
                None => {
                    // A list of crates would name the faults.
                    let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
                    let known = cases.iter().map(Case::alias_or_name);
                    let case = cases.iter().find(is_alias);
                    let error = || unknown_with_secrets("case", name, known, &names);
                    case.ok_or_else(error)?.masked()
                }
            };
            if picked.iter().all(|other| other.name != case.name) {
                picked.push(case);
            }
        }
        Ok(picked)
    }

    /// The case or exercise, and its variant, of the server with this name.
    pub fn server_named(&self, name: &str) -> anyhow::Result<Option<(Case, String)>> {
        let variant = |case: Case| {
            let found = case.variants.iter().find(|variant| case.server(variant) == name)?.clone();
            Some((case, found))
        };
        Ok(self.cases_and_exercises()?.into_iter().find_map(variant))
    }

    /// [`Workspace::cases_named`], each with the variant `mine` if the reader has begun one. Without names
    /// there is no such variant, so no record to publish has one.
    pub fn cases_with_mine(&self, names: &[String]) -> anyhow::Result<Vec<Case>> {
        let mut cases = self.cases_named(names)?;
        for case in cases.iter_mut().filter(|_| !names.is_empty()) {
            if case.source(MINE).exists() {
                case.variants.push(MINE.to_owned());
            }
        }
        Ok(cases)
    }

    /// What the case's `counts.toml` says.
    pub fn counts(&self, case: &Case) -> anyhow::Result<Reference> {
        Reference::read(&case.dir.join("counts.toml"))
    }

    /// The path of a binary, which has to exist.
    pub fn binary(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.bin_dir.join(name);
        if !path.is_file() {
            bail!("{} is missing; build it with `cargo build --release`", path.display());
        }
        Ok(path)
    }

    /// Where results go: `lab` in the target directory that holds the binaries, so it follows
    /// `CARGO_TARGET_DIR`.
    pub fn results(&self) -> PathBuf {
        self.bin_dir.parent().unwrap_or(&self.root).join("lab")
    }

    /// Where Criterion keeps its figures: next to [`Workspace::results`].
    pub fn criterion(&self) -> PathBuf {
        self.results().with_file_name("criterion")
    }
}

/// `dir`, or the directory of the running `lab`.
pub fn find_bin_dir(dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(dir) = dir {
        return Ok(dir.to_owned());
    }
    Ok(lab_itself()?.parent().context("`lab` has no directory")?.to_owned())
}

/// The nearest directory above `start` that has cases in it.
fn around(start: &Path) -> anyhow::Result<PathBuf> {
    for dir in start.ancestors() {
        if case_files(&dir.join("crates")).is_ok_and(|files| !files.is_empty()) {
            return Ok(dir.to_owned());
        }
    }
    bail!(
        "no cases in {} or above it: run `lab` inside the workspace, or name it with `--root`; \
         `lab triage`, `lab compare` and `lab flame --exec` need no workspace",
        start.display()
    )
}

/// The cases in a directory, by name.
fn cases_in(dir: &Path) -> anyhow::Result<Vec<Case>> {
    let cases = case_files(dir)?.into_iter().map(|path| Case::read(&path));
    let mut cases = cases.collect::<anyhow::Result<Vec<_>>>()?;
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// Every `*/case.toml` below `crates`.
fn case_files(crates: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = crates.read_dir().with_context(|| format!("cannot read {}", crates.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry?.path().join("case.toml");
        if file.is_file() {
            files.push(file);
        }
    }
    Ok(files)
}

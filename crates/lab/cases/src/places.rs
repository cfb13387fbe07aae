//! Where the cases are, and where the binaries and the results are.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use anyhow::{Context as _, bail, ensure};
use lab_system::output_of;
use serde_json::Value;

use crate::{Case, MINE, Reference, unknown_with_secrets};

/// The path of the running `lab`, which also generates load and ends servers.
///
/// # Errors
///
/// If the system doesn't say which program is running.
pub fn lab_itself() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find the path of `lab` itself")
}

/// The directories of the cases, of their binaries and of the results.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The directory with `crates/CASE/case.toml` below it.
    root: PathBuf,
    /// Where the server binaries are, if somebody else built them.
    bin_dir: Option<PathBuf>,
    /// Where cargo has put those that it built, by name.
    built: Arc<Mutex<BTreeMap<String, PathBuf>>>,
    /// Cargo's target directory, once it was asked for.
    target: Arc<OnceLock<PathBuf>>,
}

impl Workspace {
    /// Finds the workspace around the current directory, unless `root` names it. Its binaries are in `bin_dir`, or else
    /// where cargo says that it has built them.
    ///
    /// # Errors
    ///
    /// If `root` is not given, and the current directory is in no workspace with cases.
    pub fn find(root: Option<&Path>, bin_dir: Option<&Path>) -> anyhow::Result<Self> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => around(&env::current_dir().context("cannot read the current directory")?)?,
        };
        let (built, target) = (Arc::default(), Arc::default());
        Ok(Self { root, bin_dir: bin_dir.map(Path::to_owned), built, target })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of binaries that somebody else built, and that are taken as they are.
    pub fn bin_dir(&self) -> Option<&Path> {
        self.bin_dir.as_deref()
    }

    /// This workspace with copies of its binaries, in a directory of their own.
    pub fn with_copies_in(&self, bin_dir: PathBuf) -> Self {
        Self { bin_dir: Some(bin_dir), target: Arc::new(self.target().into()), ..self.clone() }
    }

    /// Notes where cargo has put a binary that it built.
    pub fn is_built(&self, name: &str, path: PathBuf) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.insert(name.to_owned(), path);
    }

    /// The cases of the course.
    ///
    /// # Errors
    ///
    /// If a directory or a case file cannot be read.
    pub fn cases(&self) -> anyhow::Result<Vec<Case>> {
        cases_in(&self.root.join("crates"))
    }

    /// The cases, and then the exercises: cases that are only found by their names.
    ///
    /// # Errors
    ///
    /// If a directory or a case file cannot be read.
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
    ///
    /// # Errors
    ///
    /// If a directory or a case file cannot be read.
    pub fn server_named(&self, name: &str) -> anyhow::Result<Option<(Case, String)>> {
        let variant = |case: Case| {
            let found = case.variants.iter().find(|variant| case.server(variant) == name)?.clone();
            Some((case, found))
        };
        Ok(self.cases_and_exercises()?.into_iter().find_map(variant))
    }

    /// [`Workspace::cases_named`], each with the variant `mine` if the reader has begun one. Without names
    /// there is no such variant, so no record to publish has one.
    ///
    /// # Errors
    ///
    /// If no case has one of the names, or if a case file cannot be read.
    pub fn cases_with_mine(&self, names: &[String]) -> anyhow::Result<Vec<Case>> {
        let mut cases = self.cases_named(names)?;
        for case in cases.iter_mut().filter(|_| !names.is_empty()) {
            if case.source(MINE).exists() {
                case.variants.push(MINE.to_owned());
            }
        }
        Ok(cases)
    }

    /// Reads the case's `counts.toml`.
    ///
    /// # Errors
    ///
    /// If the file exists and cannot be read or parsed.
    pub fn counts(&self, case: &Case) -> anyhow::Result<Reference> {
        Reference::read(&case.dir.join("counts.toml"))
    }

    /// The path of a binary: in the directory that was named, or where cargo has just put it.
    ///
    /// # Errors
    ///
    /// If the binary is missing, or if cargo has not built it.
    pub fn binary(&self, name: &str) -> anyhow::Result<PathBuf> {
        let built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let path = match &self.bin_dir {
            Some(dir) => dir.join(name),
            None => {
                built.get(name).with_context(|| format!("cargo has not built `{name}`"))?.clone()
            }
        };
        ensure!(
            path.is_file(),
            "{} is missing; build it with `cargo build --release`, or leave out --bin-dir",
            path.display()
        );
        Ok(path)
    }

    /// Where results go: `lab` in cargo's target directory, or next to the directory of binaries that was named.
    pub fn results(&self) -> PathBuf {
        self.target().join("lab")
    }

    fn target(&self) -> PathBuf {
        let of_cargo = || {
            let metadata = ["metadata", "--no-deps", "--format-version", "1"];
            let printed = output_of(&self.root, "cargo", &metadata)?;
            let metadata: Value = serde_json::from_str(&printed).ok()?;
            Some(PathBuf::from(metadata["target_directory"].as_str()?))
        };
        let target = || match &self.bin_dir {
            Some(dir) => dir.parent().unwrap_or(&self.root).to_owned(),
            // Without cargo, nothing is built, and what was measured elsewhere can be shown.
            None => of_cargo().unwrap_or_else(|| self.root.join("target")),
        };
        self.target.get_or_init(target).clone()
    }

    /// Where Criterion keeps its figures: next to [`Workspace::results`].
    pub fn criterion(&self) -> PathBuf {
        self.results().with_file_name("criterion")
    }
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

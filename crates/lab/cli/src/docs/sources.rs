//! What the pages quote: the newest record, the cases' own files, and the reader's last runs.

use lab_flame::stacks::Folded;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use serde_json::Value;

use super::{benches::Benches, mine::Mine, problem::unknown};
use crate::{
    bench::{CaseRecord, Record, VariantRecord},
    case::{Case, Reference, Sweep},
    store,
    workspace::Workspace,
};

/// Where the records are, below the workspace.
pub const RECORDS: &str = "docs/record";

/// All that recipes read. What is missing is an error only for the recipe that asks for it.
#[derive(Debug)]
pub struct Sources {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    /// The reader's own runs, for `--mine`.
    pub mine: Option<Mine>,
    cases: Vec<Case>,
    dir: anyhow::Result<PathBuf>,
    record: anyhow::Result<Record>,
    benches: anyhow::Result<Benches>,
}

/// What stacks of a record tell of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stacks {
    /// Nanoseconds of CPU time of a request.
    Cpu,
    /// Nanoseconds of a request, by what it waited for.
    Waits,
    /// Bytes allocated for a request.
    Allocations,
}

impl Sources {
    /// Finds the sources in a workspace.
    pub fn of(workspace: &Workspace, mine: Option<Mine>) -> anyhow::Result<Self> {
        let root = workspace.root();
        let root =
            root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        let dir = newest(&root.join(RECORDS));
        let in_dir = |name: &str| match &dir {
            Ok(dir) => Ok(dir.join(name)),
            Err(error) => Err(anyhow!("{error:#}")),
        };
        Ok(Self {
            record: in_dir("record.json").and_then(|path| {
                store::read(&path)
                    .context("the record cannot be quoted; `just record` makes a new one")
            }),
            benches: in_dir("benches.json").and_then(|path| Benches::read(&path)),
            cases: workspace.cases()?,
            root,
            mine,
            dir,
        })
    }

    /// The directory of the newest record.
    pub fn dir(&self) -> anyhow::Result<&Path> {
        self.dir.as_deref().map_err(|error| anyhow!("{error:#}"))
    }

    /// The newest record.
    pub fn record(&self) -> anyhow::Result<&Record> {
        self.record.as_ref().map_err(|error| anyhow!("{error:#}"))
    }

    /// Criterion's figures of the newest record.
    pub fn benches(&self) -> anyhow::Result<&Benches> {
        self.benches.as_ref().map_err(|error| anyhow!("{error:#}"))
    }

    /// A case, as its case file has it.
    pub fn case(&self, name: &str) -> anyhow::Result<&Case> {
        let names = self.cases.iter().map(|case| case.name.as_str());
        let case = self.cases.iter().find(|case| case.name == name);
        case.ok_or_else(|| unknown("case", name, names))
    }

    /// What a sweep is about, as the case file that describes it says.
    pub fn sweep(&self, group: &str) -> anyhow::Result<&Sweep> {
        let known = || self.cases.iter().flat_map(|case| &case.sweeps);
        let found = known().find(|(name, _)| *name == group).map(|(_, sweep)| sweep);
        found.ok_or_else(|| {
            unknown("sweep in a case file", group, known().map(|(name, _)| name.as_str()))
        })
    }

    /// The record of a case.
    pub fn measured(&self, case: &str) -> anyhow::Result<&CaseRecord> {
        self.case(case)?;
        let found = self.record()?.cases.iter().find(|record| record.case == case);
        found.with_context(|| format!("the record has nothing of {case}: `just record` makes one"))
    }

    /// The record of a case's variant.
    pub fn variant(&self, case: &str, variant: &str) -> anyhow::Result<&VariantRecord> {
        self.is_variant(case, variant)?;
        self.measured(case)?.variant(variant).with_context(|| {
            format!(
                "the record has nothing of {case}'s variant `{variant}`: `just record` makes one \
                 with every step"
            )
        })
    }

    /// The exact counts of a case's variant.
    pub fn counts(&self, case: &str, variant: &str) -> anyhow::Result<BTreeMap<String, f64>> {
        self.is_variant(case, variant)?;
        let path = self.root.join("crates").join(case).join("counts.toml");
        let counts = Reference::read(&path)?.of(variant);
        anyhow::ensure!(
            !counts.is_empty(),
            "{} has no counts of `{variant}`: `just update-counts` writes them",
            path.display()
        );
        Ok(counts.into_iter().map(|(name, count)| (name, count as f64)).collect())
    }

    /// The path of a file of a case's flame page, which has to exist.
    pub fn flame(&self, case: &str, file: &str) -> anyhow::Result<PathBuf> {
        self.case(case)?;
        let path = self.dir()?.join("flame").join(case).join(file);
        anyhow::ensure!(
            path.is_file(),
            "{} is missing: `just record` draws it",
            self.below_root(&path)
        );
        Ok(path)
    }

    /// What a flame page says of itself: the `meta.json` beside its pictures.
    pub fn flame_meta(&self, case: &str) -> anyhow::Result<Value> {
        let path = self.flame(case, "meta.json")?;
        let text =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// Stacks of a variant.
    pub fn stacks(&self, case: &str, variant: &str, kind: Stacks) -> anyhow::Result<Folded> {
        self.is_variant(case, variant)?;
        let kind = match kind {
            Stacks::Cpu => "per-request",
            Stacks::Waits => "waits",
            Stacks::Allocations => "allocations",
        };
        let path = self.flame(case, &format!("{variant}.{kind}.folded"))?;
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        text.parse().with_context(|| format!("{} is damaged", path.display()))
    }

    /// A path as it is told: from the workspace on, with `/` between its parts.
    pub fn below_root(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    fn is_variant(&self, case: &str, variant: &str) -> anyhow::Result<()> {
        let variants = &self.case(case)?.variants;
        if variants.iter().any(|known| known == variant) {
            return Ok(());
        }
        let names = variants.iter().map(String::as_str);
        Err(unknown(&format!("variant of {case}"), variant, names))
    }
}

/// The directory of the newest record; directories are named after the day, so it is the last one.
fn newest(records: &Path) -> anyhow::Result<PathBuf> {
    let dirs = records.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = dirs.filter(|path| path.is_dir()).max();
    newest.with_context(|| format!("no record is in {RECORDS}: `just record` makes one"))
}

//! Servers of another build, kept beside the results.
//!
//! Cargo builds all kinds in one target directory, under one name. So a build with the feature that
//! makes the kind comes first, its binaries are [`keep`]t in a directory apart, and the next build
//! puts its own in their place. Nothing but the workspace's own crates is compiled twice.

use std::{fs, path::Path, path::PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use crate::{
    case::{BASELINE, CANDIDATE, Case},
    workspace::Workspace,
};

/// What the kept servers can do that ordinary ones cannot.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Kind {
    /// They count their allocations: the feature `case-server/count-allocations`.
    Counting,
    /// They sample their allocations: the feature `case-server/profile-heap`.
    Heap,
}

impl Kind {
    /// The name of the directory that they are kept in.
    fn name(self) -> &'static str {
        match self {
            Self::Counting => "counting",
            Self::Heap => "heap",
        }
    }

    /// What they do, after "servers that".
    pub fn what_they_do(self) -> &'static str {
        match self {
            Self::Counting => "count",
            Self::Heap => "sample their allocations",
        }
    }

    /// The command that builds and keeps them.
    fn command(self) -> &'static str {
        match self {
            Self::Counting => "just count",
            Self::Heap => "just flame",
        }
    }
}

/// Where servers of a kind are kept whose ordinary twins are in `workspace`; that it has a case in
/// it is all that is needed of `cases`.
fn directory(workspace: &Workspace, cases: &[Case], kind: Kind) -> anyhow::Result<PathBuf> {
    let Some(case) = cases.first() else { bail!("there are no cases here") };
    let binary = workspace.binary(&server(case, &case.variants[0]))?;
    // `debug`, `release` or `profiling`.
    let profile = binary.parent().and_then(Path::file_name).context("a binary has a directory")?;
    Ok(workspace.results().join(kind.name()).join(profile))
}

fn server(case: &Case, variant: &str) -> String {
    format!("{}-{variant}", case.name)
}

/// All binaries that a case needs.
fn names(case: &Case, kind: Kind) -> impl Iterator<Item = String> {
    let is_needed = move |variant: &&String| match kind {
        Kind::Counting => true,
        Kind::Heap => [BASELINE, CANDIDATE].contains(&variant.as_str()),
    };
    let variants = case.variants.iter().filter(is_needed).map(|variant| server(case, variant));
    let companions = case.companions.iter().map(|companion| companion.bin.clone());
    let bodies =
        case.requests.iter().filter_map(|request| Some(request.body.as_ref()?.bin.clone()));
    variants.chain(companions).chain(bodies)
}

/// Keeps the binaries of `workspace`, as they are now, as those of a kind; returns where.
pub fn keep(workspace: &Workspace, cases: &[Case], kind: Kind) -> anyhow::Result<PathBuf> {
    let directory = directory(workspace, cases, kind)?;
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for name in cases.iter().flat_map(|case| names(case, kind)) {
        let from = workspace.binary(&name)?;
        let to = directory.join(from.file_name().context("a binary has a name")?);
        if to.exists() {
            fs::remove_file(&to).with_context(|| format!("cannot replace {}", to.display()))?;
        }
        // A second name for the same file costs nothing, and cargo replaces files, not their
        // content; where the file system has no such names, a copy does.
        fs::hard_link(&from, &to)
            .or_else(|_| fs::copy(&from, &to).map(drop))
            .with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(directory)
}

/// The workspace with the kept servers of a kind in place of those in `workspace`.
///
/// # Errors
///
/// If none were kept; the message names the command that does it.
pub fn kept(workspace: &Workspace, cases: &[Case], kind: Kind) -> anyhow::Result<Workspace> {
    let directory = directory(workspace, cases, kind)?;
    if !directory.is_dir() {
        let (what_they_do, command) = (kind.what_they_do(), kind.command());
        bail!("no servers that {what_they_do} in {}; `{command}` builds them", directory.display());
    }
    Ok(workspace.with_bin_dir(directory))
}

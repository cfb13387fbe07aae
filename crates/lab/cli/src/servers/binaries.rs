//! Servers that are built with a probe, kept next to the results.
//!
//! Cargo gives the binaries of every build the same path. So the build with the probe's feature comes
//! first, [`keep`] links its binaries into another directory, and the ordinary build follows. Only the
//! workspace's own crates are compiled twice.

use std::{fs, path::Path, path::PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use crate::{
    case::{BASELINE, CANDIDATE, Case},
    workspace::Workspace,
};

/// What the kept servers can do in addition.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Probe {
    /// Count their allocations: the feature `case-server/count-allocations`.
    Counting,
    /// Sample their allocations: the feature `case-server/profile-heap`.
    Heap,
}

impl Probe {
    /// The name of their directory.
    fn name(self) -> &'static str {
        match self {
            Self::Counting => "counting",
            Self::Heap => "heap",
        }
    }

    /// Follows the words "servers that".
    pub fn what_they_do(self) -> &'static str {
        match self {
            Self::Counting => "count",
            Self::Heap => "sample their allocations",
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Counting => "just count",
            Self::Heap => "just flame",
        }
    }
}

/// The directory of the servers with a probe, for the build that `workspace` has. A binary of the
/// first case determines the name of the build profile.
fn directory(workspace: &Workspace, cases: &[Case], probe: Probe) -> anyhow::Result<PathBuf> {
    let Some(case) = cases.first() else { bail!("there are no cases here") };
    let binary = workspace.binary(&server(case, &case.variants[0]))?;
    let profile = binary.parent().and_then(Path::file_name).context("a binary has a directory")?;
    Ok(workspace.results().join(probe.name()).join(profile))
}

fn server(case: &Case, variant: &str) -> String {
    format!("{}-{variant}", case.name)
}

/// All binaries that a case needs.
fn names(case: &Case, probe: Probe) -> impl Iterator<Item = String> {
    let is_needed = move |variant: &&String| match probe {
        Probe::Counting => true,
        Probe::Heap => [BASELINE, CANDIDATE].contains(&variant.as_str()),
    };
    let variants = case.variants.iter().filter(is_needed).map(|variant| server(case, variant));
    let companions = case.companions.iter().map(|companion| companion.bin.clone());
    let bodies =
        case.requests.iter().filter_map(|request| Some(request.body.as_ref()?.bin.clone()));
    variants.chain(companions).chain(bodies)
}

/// Keeps the current binaries of `workspace` as the servers with a probe; returns their directory.
pub fn keep(workspace: &Workspace, cases: &[Case], probe: Probe) -> anyhow::Result<PathBuf> {
    let directory = directory(workspace, cases, probe)?;
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for name in cases.iter().flat_map(|case| names(case, probe)) {
        let from = workspace.binary(&name)?;
        let to = directory.join(from.file_name().context("a binary has a name")?);
        if to.exists() {
            fs::remove_file(&to).with_context(|| format!("cannot replace {}", to.display()))?;
        }
        // A hard link is free, and cargo replaces files instead of writing into them. Copy if the file
        // system has no hard links.
        fs::hard_link(&from, &to)
            .or_else(|_| fs::copy(&from, &to).map(drop))
            .with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(directory)
}

/// The workspace with the kept servers in place of the ordinary ones.
///
/// # Errors
///
/// If there are none; the message names the command that builds them.
pub fn kept(workspace: &Workspace, cases: &[Case], probe: Probe) -> anyhow::Result<Workspace> {
    let directory = directory(workspace, cases, probe)?;
    if !directory.is_dir() {
        let (what_they_do, command) = (probe.what_they_do(), probe.command());
        bail!("no servers that {what_they_do} in {}; `{command}` builds them", directory.display());
    }
    Ok(workspace.with_bin_dir(directory))
}

//! The servers that count: a build of their own, kept beside the results.
//!
//! Cargo builds both kinds in one target directory, under one name. So a build with the feature
//! `case-server/count-allocations` comes first, its binaries are [`keep`]t in a directory apart,
//! and the next build puts the ordinary ones back in their place. Nothing but the workspace's own
//! crates is compiled twice.

use std::{fs, path::Path, path::PathBuf};

use anyhow::{Context as _, bail};

use crate::{case::Case, cmd::Places, workspace::Workspace};

/// Where the servers that count are kept, for binaries in the directory `profile` such as `debug`.
fn directory(workspace: &Workspace, profile: &str) -> PathBuf {
    workspace.results().join("counting").join(profile)
}

/// The name of the directory that the ordinary binaries are in.
fn profile(workspace: &Workspace, case: &Case) -> anyhow::Result<String> {
    let binary = workspace.binary(&server(case, &case.variants[0]))?;
    let name = binary.parent().and_then(Path::file_name).context("a binary has a directory")?;
    Ok(name.to_string_lossy().into_owned())
}

fn server(case: &Case, variant: &str) -> String {
    format!("{}-{variant}", case.name)
}

/// All binaries that counting a case needs.
fn names(case: &Case) -> impl Iterator<Item = String> {
    let variants = case.variants.iter().map(|variant| server(case, variant));
    let companions = case.companions.iter().map(|companion| companion.bin.clone());
    let bodies =
        case.requests.iter().filter_map(|request| Some(request.body.as_ref()?.bin.clone()));
    variants.chain(companions).chain(bodies)
}

/// Keeps the binaries as they are now; returns where.
pub fn keep(workspace: &Workspace, cases: &[Case]) -> anyhow::Result<PathBuf> {
    let Some(case) = cases.first() else { bail!("there are no cases here") };
    let directory = directory(workspace, &profile(workspace, case)?);
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for name in cases.iter().flat_map(names) {
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

/// The workspace with the servers that count in place of the ordinary ones.
pub fn counting(places: &Places, cases: &[Case]) -> anyhow::Result<Workspace> {
    let ordinary = Workspace::find(places)?;
    let Some(case) = cases.first() else { bail!("there are no cases here") };
    let directory = directory(&ordinary, &profile(&ordinary, case)?);
    if !directory.is_dir() {
        bail!("no servers that count in {}; `just count` builds them", directory.display());
    }
    Workspace::find(&Places { root: places.root.clone(), bin_dir: Some(directory) })
}

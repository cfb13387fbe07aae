//! Builds of the cases' servers that report on themselves, and must never be timed.
//!
//! Cargo puts every build of a server in the same place. So each instrumented build is copied to a
//! directory of its own, and then the ordinary servers are put back. Only the workspace's own crates
//! are compiled again.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use lab_cases::{Case, FIXED, MINE, SLOW, Workspace};

use super::cargo;

/// The extra work of an instrumented build of the servers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Instrumentation {
    /// The server counts its allocations.
    Counts,
    /// The server records spans, and samples its CPU time where there is no profiler.
    Spans,
    /// The server samples its allocations with their stacks.
    Heap,
}

/// Builds the servers of `cases` and returns the workspace with them in place of the ordinary ones.
///
/// # Errors
///
/// If cargo fails, or if a binary cannot be copied.
pub async fn build_instrumented(
    workspace: &Workspace,
    cases: &[Case],
    instrumentation: Instrumentation,
) -> anyhow::Result<Workspace> {
    let (name, feature) = match instrumentation {
        Instrumentation::Counts => ("counting", "case-server/count-allocations"),
        Instrumentation::Spans => ("profiled", "case-server/profile"),
        Instrumentation::Heap => ("heap", "case-server/profile-heap"),
    };
    let variants = |case: &Case| {
        // Pictures show slow, and fixed or the reader's own.
        let is_wanted = |variant: &&String| {
            instrumentation == Instrumentation::Counts
                || [SLOW, FIXED, MINE].contains(&variant.as_str())
        };
        let variants = case.variants.iter().filter(is_wanted);
        variants.map(|variant| case.server(variant)).collect::<Vec<_>>()
    };
    let companions = cases.iter().flat_map(|case| &case.companions);
    let companions = companions.map(|companion| companion.bin.clone());
    let binaries: Vec<_> = cases.iter().flat_map(variants).chain(companions).collect();

    cargo::build_servers(workspace, &binaries, &["--features", feature]).await?;
    let directory = workspace.results().join(name).join(cargo::PROFILE);
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for name in &binaries {
        copy(&workspace.binary(name)?, &directory)?;
    }
    // Whatever runs a reader's own variant builds it first.
    let put_back: Vec<_> =
        binaries.into_iter().filter(|name| !name.ends_with(&format!("-{MINE}"))).collect();
    cargo::build_servers(workspace, &put_back, &[]).await?;
    Ok(workspace.with_copies_in(directory))
}

/// Copies a binary into a directory, as a second name for the same file where the system allows it:
/// cargo replaces files, and does not write into them.
fn copy(from: &Path, directory: &Path) -> anyhow::Result<()> {
    let to: PathBuf = directory.join(from.file_name().context("a binary has a name")?);
    if to.exists() {
        fs::remove_file(&to).with_context(|| format!("cannot replace {}", to.display()))?;
    }
    fs::hard_link(from, &to)
        .or_else(|_| fs::copy(from, &to).map(drop))
        .with_context(|| format!("cannot write {}", to.display()))
}

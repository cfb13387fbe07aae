//! The servers of the cases as they are checked out.
//!
//! A record names the commit that its servers were built from. A commit in the binaries would have all
//! of them compiled again after every commit. Cargo knows better: it builds what is out of date, and says where it is.

use lab_cases::{Case, Workspace};
use lab_system::Build;

use super::cargo;

/// Brings these variants of the cases up to date, and what they need to run. Returns how they were built,
/// which is unknown for binaries that somebody else built.
///
/// # Errors
///
/// If cargo fails, or builds no binary of one of the names.
pub async fn build_ordinary(
    workspace: &Workspace,
    wanted: &[(&Case, Vec<String>)],
) -> anyhow::Result<Build> {
    if workspace.bin_dir().is_some() {
        return Ok(Build::unknown());
    }
    let binaries = wanted.iter().flat_map(|(case, variants)| {
        let servers = variants.iter().map(|variant| case.server(variant));
        servers.chain(case.companions.iter().map(|companion| companion.bin.clone()))
    });
    let binaries: Vec<_> = binaries.collect();
    cargo::build_servers(workspace, &binaries, &[]).await?;
    Ok(of_checkout(workspace))
}

/// How cargo builds what is checked out now.
pub fn of_checkout(workspace: &Workspace) -> Build {
    Build::of(workspace.root(), cargo::PROFILE)
}

//! The servers of the cases as they are checked out.
//!
//! A record names the commit that its servers were built from. A commit in the binaries would have all
//! of them compiled again after every commit. Cargo knows better: it builds what is out of date, and
//! names the binaries that it vouches for.

use std::path::{Path, PathBuf};

use lab_cases::{Case, Workspace};
use lab_system::Build;
use serde_json::Value;

use super::cargo;

/// Brings these variants of the cases up to date, and what they need to run. Returns how they were built,
/// which is unknown for binaries that were not put there by cargo.
pub async fn build(
    workspace: &Workspace,
    wanted: &[(&Case, Vec<String>)],
) -> anyhow::Result<Build> {
    let bin_dir = workspace.bin_dir();
    if !bin_dir.join(".fingerprint").is_dir() {
        return Ok(Build::unknown());
    }
    let binaries = wanted.iter().flat_map(|(case, variants)| {
        let servers = variants.iter().map(|variant| case.server(variant));
        servers.chain(case.companions.iter().map(|companion| companion.bin.clone()))
    });
    let binaries: Vec<_> = binaries.collect();
    let messages = cargo::build_servers(workspace, &binaries, &[]).await?;
    let built = executables(&messages);
    let is_built = |name: &String| vouches(&built, &bin_dir.join(name));
    let all = binaries.iter().all(is_built);
    Ok(if all { Build::of(workspace.root(), bin_dir) } else { Build::unknown() })
}

/// The binaries that cargo's messages name, fresh ones included.
fn executables(messages: &[Value]) -> Vec<PathBuf> {
    messages.iter().filter_map(|message| Some(message["executable"].as_str()?.into())).collect()
}

fn vouches(built: &[PathBuf], binary: &Path) -> bool {
    let same = |built: &PathBuf| built.canonicalize().ok() == binary.canonicalize().ok();
    binary.is_file() && built.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_vouches_for_the_files_that_it_names_and_for_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let [ours, copied] = ["ours", "copied"].map(|name| dir.path().join(name));
        std::fs::write(&ours, "").unwrap();
        std::fs::write(&copied, "").unwrap();
        let message = |executable: Value| serde_json::json!({ "reason": "compiler-artifact", "executable": executable });
        let built = executables(&[message(Value::Null), message(ours.to_str().into())]);
        assert!(vouches(&built, &ours));
        assert!(!vouches(&built, &copied) && !vouches(&built, &dir.path().join("missing")));
    }
}

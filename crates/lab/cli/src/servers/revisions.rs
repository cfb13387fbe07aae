//! Builds of git revisions, each in its own worktree, so that your working tree does not change.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};

/// Builds `bin` at `revision` of the repository that contains the current directory; returns the path
/// of the binary.
///
/// The binary stays in `target/lab/revisions/COMMIT`, so each commit is built once.
pub fn build(revision: &str, bin: &str) -> anyhow::Result<PathBuf> {
    let commit = git(Path::new("."), &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
        .with_context(|| format!("there is no revision `{revision}`"))?;
    let top = PathBuf::from(git(Path::new("."), &["rev-parse", "--show-toplevel"])?);
    let kept = top.join("target/lab/revisions").join(&commit);
    let binary = kept.join(bin);
    if binary.is_file() {
        return Ok(binary);
    }
    eprintln!("building {bin} at {revision} ({})", &commit[..commit.len().min(10)]);
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let tree = scratch.path().join("tree");
    let tree_name = tree.to_str().context("the temporary directory is named in UTF-8")?;
    git(&top, &["worktree", "add", "--quiet", "--detach", tree_name, &commit])?;
    // All revisions share a target directory, so common dependencies are built once.
    let target = top.join("target/lab/revisions/target");
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--bin", bin, "--target-dir"])
        .arg(&target)
        .current_dir(&tree)
        .status();
    git(&top, &["worktree", "remove", "--force", tree_name])?;
    let built = built.context("cannot run cargo")?;
    ensure!(built.success(), "cargo could not build {bin} at {revision}");
    std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
    let fresh = target.join("release").join(bin);
    std::fs::copy(&fresh, &binary).with_context(|| format!("cannot copy {}", fresh.display()))?;
    Ok(binary)
}

fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").args(args).current_dir(dir).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

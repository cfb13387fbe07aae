//! Builds of git revisions, each in its own worktree, so that your working tree does not change.
//!
//! A worktree stays while its server runs, because a server may read templates or settings from its
//! working directory. It is not below your working tree, where cargo would also read the settings of
//! yours.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use crate::servers::Scratch;

/// A binary of a revision, and the worktree in which it runs.
#[derive(Debug)]
pub struct Built {
    pub program: PathBuf,
    /// The directory in the worktree that corresponds to the current directory.
    pub dir: PathBuf,
    top: PathBuf,
    around_tree: Option<Scratch>,
}

impl Drop for Built {
    fn drop(&mut self) {
        self.around_tree.take();
        let _ = git(&self.top, &["worktree", "prune"]);
    }
}

/// Builds `bin` at `revision` of the repository that contains the current directory, in the
/// corresponding directory of a worktree.
///
/// The binary stays in `revisions`, and is built again only for another commit, compiler or setting:
/// see [`key`].
pub async fn build(revision: &str, bin: &str, revisions: &Path) -> anyhow::Result<Built> {
    let here = env::current_dir().context("cannot read the current directory")?;
    let commit = git(&here, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
        .with_context(|| format!("there is no revision `{revision}`"))?;
    let top = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?);
    let below_top = git(&here, &["rev-parse", "--show-prefix"])?;
    // A relative path would mean another file in the worktree.
    let revisions = fs::create_dir_all(revisions).and_then(|()| revisions.canonicalize());
    let revisions = revisions.context("cannot make the directory of the binaries")?;
    // One build at a time, because they share a directory.
    let lock = File::open(&revisions)?;
    let _lock = spawn_blocking(|| lock.lock().map(|()| lock)).await?.context("cannot lock")?;

    // The path depends only on the repository and the commit: a binary that is built once may look for
    // files where its sources were.
    let repository = crc32fast::hash(top.as_os_str().as_encoded_bytes());
    let around = Scratch::shared(&trees()?, &format!("{repository:08x}-{commit}"))?;
    let tree = around.path().join("tree");
    let mut built = Built {
        program: PathBuf::new(),
        dir: tree.join(&below_top),
        top,
        around_tree: Some(around),
    };
    if !tree.is_dir() {
        // A killed `lab` may have left one with the same name.
        git(&built.top, &["worktree", "prune"])?;
        let name = tree.to_str().context("the worktree has a name in UTF-8")?;
        git(&built.top, &["worktree", "add", "--quiet", "--detach", name, &commit])?;
    }
    ensure!(built.dir.is_dir(), "`{revision}` has no directory {below_top}");
    let key = crc32fast::hash(&key(&built.dir)?);
    built.program = revisions.join(format!("{commit}-{key:08x}")).join(bin);
    if !built.program.is_file() {
        eprintln!("building {bin} at {revision} ({})", &commit[..commit.len().min(10)]);
        let fresh = cargo_build(&built.dir, bin, &revisions.join("target"))
            .await
            .with_context(|| format!("cannot build {bin} at {revision}"))?;
        copy_whole(&fresh, &built.program)?;
    }
    Ok(built)
}

/// What a build depends on besides its commit: the compiler, the directory, the profile, the variables
/// that cargo and rustc read, and your own settings of cargo.
fn key(dir: &Path) -> anyhow::Result<Vec<u8>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").current_dir(dir).output();
    let mut key = version.context("cannot run rustc")?.stdout;
    let decides = |name: &str| {
        let prefixes = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTC"];
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"].contains(&name)
            || prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(decides))
        .map(|(name, value)| format!("{name:?}={value:?}\n"))
        .collect();
    variables.sort();
    key.extend_from_slice(format!("{}\nrelease\n{}", dir.display(), variables.concat()).as_bytes());
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    if let Some(home) = home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))) {
        for file in ["config.toml", "config"] {
            key.extend(fs::read(home.join(file)).unwrap_or_default());
        }
    }
    Ok(key)
}

/// Has cargo build a binary; returns its path.
async fn cargo_build(dir: &Path, bin: &str, target: &Path) -> anyhow::Result<PathBuf> {
    // Common dependencies are built once: all revisions share a target directory.
    let output = tokio::process::Command::new("cargo")
        .args(["build", "--release", "--quiet", "--bin", bin])
        .args(["--message-format", "json-render-diagnostics", "--target-dir"])
        .arg(target)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo failed; its own message is above");
    // Its place depends on cargo's settings, so ask cargo.
    let mut built = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let is_wanted = message.pointer("/target/name")? == bin;
        is_wanted.then(|| Some(PathBuf::from(message.get("executable")?.as_str()?)))?
    });
    built.next_back().context("cargo does not say where the binary is")
}

/// Copies a binary in one step: nobody sees or runs a part of it.
fn copy_whole(from: &Path, to: &Path) -> anyhow::Result<()> {
    let dir = to.parent().context("a binary has a directory")?;
    let copied = fs::create_dir_all(dir).and_then(|()| {
        let part = NamedTempFile::new_in(dir)?.into_temp_path();
        fs::copy(from, &part)?;
        Ok(part.persist(to)?)
    });
    copied.with_context(|| format!("cannot copy {}", from.display()))
}

/// A directory for worktrees that only this user can write in, outside any repository.
fn trees() -> anyhow::Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache.context("HOME is not set")?.join("lab/worktrees"))
}

fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").args(args).current_dir(dir).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

//! Builds of git revisions, each in its own worktree, so that your working tree does not change.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;

/// The worktrees of one comparison: removed when this is dropped, or by the next one if `lab` is killed.
///
/// They stay while the servers run, because a server may read templates or settings from its working
/// directory. They are outside your working tree, because cargo would read its settings too.
#[derive(Debug)]
pub struct Revisions {
    /// The root of the repository.
    top: PathBuf,
    /// The current directory, from there.
    below_top: String,
    trees: PathBuf,
    /// The directory of the binaries.
    kept: PathBuf,
    _lock: File,
}

/// A binary of a revision, and the directory in its worktree that corresponds to the current directory.
#[derive(Debug)]
pub struct Built {
    pub program: PathBuf,
    pub dir: PathBuf,
}

impl Revisions {
    /// Of the repository that contains the current directory. Waits until no other `lab` of this user
    /// compares revisions: it would disturb the measurement, and has the same worktrees.
    pub async fn open(results: &Path) -> anyhow::Result<Self> {
        let here = env::current_dir().context("cannot read the current directory")?;
        let trees = trees()?;
        fs::create_dir_all(&trees).with_context(|| format!("cannot make {}", trees.display()))?;
        let lock = File::open(&trees)?;
        let lock = match lock.try_lock() {
            Ok(()) => lock,
            Err(_) => {
                eprintln!("waiting until another `lab` has compared its revisions");
                // In another thread, so that Ctrl-C ends the wait.
                let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await?;
                lock.context("cannot lock the worktrees")?
            }
        };
        let revisions = Self {
            top: git(&here, &["rev-parse", "--show-toplevel"])?.into(),
            below_top: git(&here, &["rev-parse", "--show-prefix"])?,
            trees,
            kept: here.join(results).join("revisions"),
            _lock: lock,
        };
        revisions.remove_trees();
        Ok(revisions)
    }

    /// Builds `bin` at `revision`. The binary is kept, and built again only for another commit, compiler
    /// or setting: see [`key`].
    pub async fn build(&self, revision: &str, bin: &str) -> anyhow::Result<Built> {
        let commit = format!("{revision}^{{commit}}");
        let commit = git(&self.top, &["rev-parse", "--verify", &commit])
            .with_context(|| format!("there is no revision `{revision}`"))?;
        // Always the same path: a binary may look for files where its sources were.
        let tree = self.trees.join(&commit);
        if !tree.is_dir() {
            let path = tree.to_str().context("the worktree has a name in UTF-8")?;
            let add = ["worktree", "add", "--quiet", "--force", "--detach", path, &commit];
            git(&self.top, &add)?;
        }
        let dir = tree.join(&self.below_top);
        ensure!(dir.is_dir(), "`{revision}` has no directory {}", self.below_top);
        let kept = self.kept.join(format!("{commit}-{:08x}", crc32fast::hash(&key(&dir)?)));
        let program = kept.join(bin);
        if !program.is_file() {
            eprintln!("building {bin} at {revision} ({})", &commit[..commit.len().min(10)]);
            let fresh = cargo_build(&dir, bin, &self.kept.join("target"))
                .await
                .with_context(|| format!("cannot build {bin} at {revision}"))?;
            copy_whole(&fresh, &program)?;
        }
        Ok(Built { program, dir })
    }

    fn remove_trees(&self) {
        for tree in self.trees.read_dir().into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(tree.path());
        }
        let _ = git(&self.top, &["worktree", "prune"]);
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        self.remove_trees();
    }
}

/// A directory for worktrees that only this user can write in, outside any repository.
fn trees() -> anyhow::Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache.context("HOME is not set")?.join("lab/worktrees"))
}

/// What a build depends on besides its commit: the compiler, the directory, the variables that cargo
/// and rustc read, and your own settings of cargo.
fn key(dir: &Path) -> anyhow::Result<Vec<u8>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").current_dir(dir).output();
    let mut key = version.context("cannot run rustc")?.stdout;
    let decides = |name: &str| {
        let prefixes = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTC", "RUSTFLAGS"];
        name == "CARGO_ENCODED_RUSTFLAGS" || prefixes.iter().any(|it| name.starts_with(it))
    };
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(decides))
        .map(|(name, value)| format!("{name:?}={value:?}\n"))
        .collect();
    variables.sort();
    key.extend_from_slice(format!("{}\n{}", dir.display(), variables.concat()).as_bytes());
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    if let Some(home) = home.or_else(|| Some(env::home_dir()?.join(".cargo"))) {
        key.extend(fs::read(home.join("config.toml")).unwrap_or_default());
    }
    Ok(key)
}

/// Has cargo build a binary; returns its path.
async fn cargo_build(dir: &Path, bin: &str, target: &Path) -> anyhow::Result<PathBuf> {
    // Common dependencies are built once: all revisions share a target directory. Cargo goes by the age
    // of the sources, and a worktree is younger than any build of another one.
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

fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").args(args).current_dir(dir).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

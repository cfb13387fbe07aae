//! Builds of git revisions, each in its own worktree, so that your working tree does not change.
//!
//! A worktree stays while its server runs, because a server may read templates or settings from its
//! working directory. It is not below your working tree, where cargo would also read the settings of
//! yours.

use std::{
    env,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;

/// A binary of a revision, and the worktree in which it runs.
#[derive(Debug)]
pub struct Built {
    pub program: PathBuf,
    /// The directory in the worktree that corresponds to the current directory.
    pub dir: PathBuf,
    _tree: Tree,
}

/// Builds `bin` at `revision` of the repository that contains the current directory, in the
/// corresponding directory of a worktree.
///
/// The binary stays in `target/lab/revisions`, and is built again only for another commit, compiler or
/// setting: see [`key`].
pub async fn build(revision: &str, bin: &str) -> anyhow::Result<Built> {
    let here = env::current_dir().context("cannot read the current directory")?;
    let commit = git(&here, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
        .with_context(|| format!("there is no revision `{revision}`"))?;
    let top = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?);
    let below_top = git(&here, &["rev-parse", "--show-prefix"])?;
    let revisions = workspace_root(&here)?.join("target/lab/revisions");
    fs::create_dir_all(&revisions)
        .with_context(|| format!("cannot make {}", revisions.display()))?;

    // One at a time: the builds share a directory.
    let _lock = locked(&revisions).await?;
    let tree = Tree::of(&top, &commit)?;
    let dir = tree.path().join(&below_top);
    ensure!(dir.is_dir(), "`{revision}` has no directory {below_top}");
    let kept = revisions.join(format!("{commit}-{:08x}", crc32fast::hash(&key(&dir)?)));
    let program = kept.join(bin);
    if !program.is_file() {
        eprintln!("building {bin} at {revision} ({})", &commit[..commit.len().min(10)]);
        let fresh = cargo_build(&dir, bin, &revisions.join("target"))
            .await
            .with_context(|| format!("cannot build {bin} at {revision}"))?;
        copy_whole(&fresh, &program)?;
    }
    Ok(Built { program, dir, _tree: tree })
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

/// The root of the cargo workspace that contains a directory.
fn workspace_root(dir: &Path) -> anyhow::Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["locate-project", "--workspace", "--message-format", "plain"])
        .current_dir(dir)
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let manifest = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
    Ok(manifest.parent().context("a manifest has a directory")?.to_owned())
}

/// The worktree of a commit: removed when its last user drops it.
///
/// Its path depends only on the repository and the commit, because a binary that is built once may look
/// for files where its sources were. Every user holds a shared lock on the directory around it.
#[derive(Debug)]
struct Tree {
    top: PathBuf,
    around: PathBuf,
    lock: File,
}

impl Tree {
    fn of(top: &Path, commit: &str) -> anyhow::Result<Self> {
        let trees = trees()?;
        let repository = crc32fast::hash(top.as_os_str().as_encoded_bytes());
        let repository = format!("{repository:08x}-");
        remove_stale(top, &trees, &repository);
        let around = trees.join(repository + commit);
        let tree = loop {
            fs::create_dir_all(&around)
                .with_context(|| format!("cannot make {}", around.display()))?;
            let Ok(lock) = File::open(&around) else { continue };
            lock.lock_shared().context("cannot lock a worktree")?;
            // Its last user may have removed it before it was locked.
            if around.is_dir() {
                break Self { top: top.to_owned(), around, lock };
            }
        };
        let path = tree.path();
        if !path.is_dir() {
            let name = path.to_str().context("the worktree has a name in UTF-8")?;
            git(top, &["worktree", "add", "--quiet", "--force", "--detach", name, commit])?;
        }
        Ok(tree)
    }

    fn path(&self) -> PathBuf {
        self.around.join("tree")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.lock.unlock().is_ok() {
            remove_unused(&self.top, &self.around);
        }
    }
}

/// Removes the worktrees that a killed `lab` left behind.
fn remove_stale(top: &Path, trees: &Path, repository: &str) {
    for entry in trees.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(repository) {
            remove_unused(top, &entry.path());
        }
    }
    // Those whose directory is gone, as after a restart of the machine.
    let _ = git(top, &["worktree", "prune"]);
}

/// Removes a worktree and the directory around it, unless somebody uses it.
fn remove_unused(top: &Path, around: &Path) {
    if let Ok(lock) = File::open(around)
        && lock.try_lock().is_ok()
        && let Some(tree) = around.join("tree").to_str()
    {
        let _ = git(top, &["worktree", "remove", "--force", tree]);
        let _ = fs::remove_dir_all(around);
    }
}

/// A directory for worktrees that only this user can write in, outside any repository.
fn trees() -> anyhow::Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache.context("HOME is not set")?.join("lab/worktrees"))
}

/// Waits until no other `lab` has locked a directory.
async fn locked(dir: &Path) -> anyhow::Result<File> {
    let lock = File::open(dir).with_context(|| format!("cannot open {}", dir.display()))?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // Ctrl-C has to end the wait, which a blocking call would not allow.
            Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(100)).await,
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", dir.display()));
            }
        }
    }
}

fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").args(args).current_dir(dir).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

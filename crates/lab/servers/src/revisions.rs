//! Builds of git revisions, each in its own worktree, so that your working tree does not change.

use std::{
    env,
    fs::{self, DirBuilder, File},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use lab_system::{Program, err};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::{
    cargo::{self, as_from_a_shell_elsewhere},
    with_bar,
};

/// How long git, or cargo without compiling, may take.
const PATIENCE: Duration = Duration::from_secs(120);

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

/// What to build of a revision.
#[derive(Clone, Copy, Debug)]
pub enum Artifact<'a> {
    Bin(&'a str),
    Bench(&'a str),
}

impl Artifact<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Bin(name) | Self::Bench(name) => name,
        }
    }

    /// The kind in cargo's messages, which is also its option.
    fn kind(&self) -> &'static str {
        match self {
            Self::Bin(_) => "bin",
            Self::Bench(_) => "bench",
        }
    }

    /// Cargo names no profile `release` for a bench, so that its settings for benches hold.
    fn profile(&self) -> &'static str {
        match self {
            Self::Bin(_) => "release",
            Self::Bench(_) => "bench",
        }
    }
}

/// The binary of a revision, once in each layout, and the directory in its worktree that corresponds to
/// the current directory.
#[derive(Debug)]
pub struct Built {
    pub programs: Vec<PathBuf>,
    pub dir: PathBuf,
}

impl Revisions {
    /// Of the repository that contains the current directory. Waits until no other `lab` of this user
    /// compares revisions: it would disturb the measurement, and has the same worktrees.
    pub async fn open(results: &Path) -> anyhow::Result<Self> {
        let here = env::current_dir().context("cannot read the current directory")?;
        let trees = trees()?;
        // The sources in it need not be for everybody.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&trees);
        made.with_context(|| format!("cannot make {}", trees.display()))?;
        let lock = File::open(&trees)?;
        let lock = match lock.try_lock() {
            Ok(()) => lock,
            Err(_) => {
                err!("waiting until another `lab` has compared its revisions");
                // In another thread, so that Ctrl-C ends the wait.
                let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await?;
                lock.context("cannot lock the worktrees")?
            }
        };
        let revisions = Self {
            top: git(&here, &["rev-parse", "--show-toplevel"]).await?.into(),
            below_top: git(&here, &["rev-parse", "--show-prefix"]).await?,
            trees,
            kept: here.join(results).join("revisions"),
            _lock: lock,
        };
        revisions.remove_trees();
        Ok(revisions)
    }

    /// Its hash; fails if there is no such revision.
    pub async fn commit(&self, revision: &str) -> anyhow::Result<String> {
        let commit = format!("{revision}^{{commit}}");
        let found = git(&self.top, &["rev-parse", "--verify", &commit]).await;
        found.with_context(|| format!("there is no revision `{revision}`"))
    }

    /// Builds a binary or a bench at `revision`: as cargo does it, or with its functions in this many random orders.
    /// The binaries are kept, and built again only for another commit, compiler or setting: see `key`.
    pub async fn build(
        &self,
        revision: &str,
        what: Artifact<'_>,
        layouts: Option<u16>,
    ) -> anyhow::Result<Built> {
        let name = what.name();
        let commit = self.commit(revision).await?;
        // Always the same path: a binary may look for files where its sources were.
        let tree = self.trees.join(&commit);
        if !tree.is_dir() {
            let path = tree.to_str().context("the worktree has a name in UTF-8")?;
            let add = ["worktree", "add", "--quiet", "--force", "--detach", path, &commit];
            git(&self.top, &add).await?;
        }
        let dir = tree.join(&self.below_top);
        ensure!(dir.is_dir(), "`{revision}` has no directory {}", self.below_top);
        let kept = self.kept.join(format!("{commit}-{:08x}", crc32fast::hash(&key(&dir).await?)));
        let mut programs = Vec::new();
        for layout in 1..=layouts.unwrap_or(1) {
            let layout = layouts.map(|of| (layout, of));
            let (below, which) = match layout {
                None => (String::new(), String::new()),
                Some((seed, of)) => (format!("layout-{seed}"), format!(", layout {seed} of {of}")),
            };
            let file =
                if what.kind() == "bench" { format!("{name}-bench") } else { name.to_owned() };
            let program = kept.join(below).join(file);
            if !program.is_file() {
                let short = &commit[..commit.len().min(10)];
                err!("building {name} at {revision} ({short}){which}");
                let target = self.kept.join("target");
                let fresh = cargo_build(&dir, what, layout.map(|(seed, _)| seed), &target)
                    .await
                    .with_context(|| format!("cannot build {name} at {revision}{which}"))?;
                copy_whole(&fresh, &program)?;
            }
            programs.push(program);
        }
        Ok(Built { programs, dir })
    }

    fn remove_trees(&self) {
        for tree in self.trees.read_dir().into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(tree.path());
        }
        let mut git = Command::new("git");
        git.args(["worktree", "prune"]).current_dir(&self.top);
        // A `drop` cannot wait for a future.
        let _ = Program::new(git, PATIENCE).wait();
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        self.remove_trees();
    }
}

/// A directory for worktrees that only this user can use, outside any repository.
fn trees() -> anyhow::Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache.context("HOME is not set")?.join("lab/worktrees"))
}

/// What a build depends on besides its commit: the compiler, the directory, the variables that cargo
/// and rustc read, and your own settings of cargo.
async fn key(dir: &Path) -> anyhow::Result<Vec<u8>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut rustc = as_from_a_shell_elsewhere(rustc, dir);
    rustc.arg("-vV");
    let mut key = Program::new(rustc, PATIENCE).output().await?;
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

/// Has cargo build a binary, with its functions in the order of a `seed` if there is one; returns its
/// path.
async fn cargo_build(
    dir: &Path,
    what: Artifact<'_>,
    seed: Option<u16>,
    target: &Path,
) -> anyhow::Result<PathBuf> {
    let mut command = as_from_a_shell_elsewhere("cargo", dir);
    match seed {
        None => command.arg("build"),
        // Flags for this binary alone: with RUSTFLAGS, each layout would build all dependencies again.
        Some(_) => command.args(["rustc", "--package", &package(dir, what).await?]),
    };
    command.args([&format!("--{}", what.kind()), what.name(), "--profile", what.profile()]);
    // Common dependencies are built once: all revisions share a target directory. Cargo goes by the age
    // of the sources, and a worktree is younger than any build of another one.
    command.arg("--target-dir").arg(target).args(cargo::MESSAGES);
    if let Some(seed) = seed {
        // An option of lld, which is Rust's linker on x86-64 Linux.
        command.args(["--", "-C", &format!("link-arg=-Wl,--shuffle-sections=*={seed}")]);
    }
    let messages = match (with_bar::build(command, cargo::PATIENCE).await, seed) {
        (Err(error), Some(_)) => Err(error.context("--layouts needs the linker lld")),
        (messages, _) => messages,
    }?;
    // Its place depends on cargo's settings, so ask cargo.
    let is_it = |message: &&Value| {
        let target = &message["target"];
        target["name"] == what.name() && target["kind"][0] == what.kind()
    };
    let built = messages.iter().filter(is_it);
    let mut built = built.filter_map(|message| Some(message["executable"].as_str()?.into()));
    built.next_back().context("cargo does not say where it is")
}

async fn package(dir: &Path, what: Artifact<'_>) -> anyhow::Result<String> {
    let mut cargo = as_from_a_shell_elsewhere("cargo", dir);
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let printed = Program::new(cargo, PATIENCE).output().await?;
    let metadata: Value = serde_json::from_slice(&printed).context("cargo metadata")?;
    let (kind, name) = (what.kind(), what.name());
    let is_it = |target: &Value| target["name"] == name && target["kind"][0] == kind;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .find(|it| it["targets"].as_array().is_some_and(|targets| targets.iter().any(is_it)))
        .and_then(|package| Some(package["name"].as_str()?.to_owned()))
        .with_context(|| format!("no package has a {kind} named `{name}`"))
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

async fn git(dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let mut git = Command::new("git");
    git.args(args).current_dir(dir);
    let printed = Program::new(git, PATIENCE).output().await?;
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

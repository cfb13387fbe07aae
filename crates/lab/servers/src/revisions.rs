//! Builds of git revisions, each in its own worktree, so that your working tree does not change.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, DirBuilder, File},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, ensure};
use lab_protocol::BesidesCode;
use lab_system::err;

use super::{
    Artifact, cargo, changed_files, checkout, git,
    ingredients::Ingredients,
    kept::{self, Kept, Settings},
    lock_history::LockState,
    side::RevisionBuild,
    sources::PackageSources,
};

/// The worktrees of one comparison: removed when this is dropped, or by the next one if `lab` is killed.
///
/// They stay while the servers run, because a server may read templates or settings from its working
/// directory. They are outside your working tree, because cargo would read its settings too.
#[derive(Debug)]
pub struct Revisions {
    /// The root of the repository.
    top: PathBuf,
    /// The current directory, from there.
    below_top: PathBuf,
    trees: PathBuf,
    /// The directory of the builds.
    kept: PathBuf,
    /// The notes on builds that were printed: several revisions have the same settings.
    noted: Mutex<BTreeSet<String>>,
    _lock: File,
}

/// A revision's program, once in each layout, as cargo runs it.
#[derive(Debug, Default)]
pub struct Built {
    pub programs: Vec<PathBuf>,
    /// The working directory: for a bench that of its package, else the one in the worktree that corresponds to the
    /// current directory.
    pub dir: PathBuf,
    /// The variables that cargo adds to the environment.
    pub env: BTreeMap<String, String>,
    pub unset: BTreeSet<String>,
    /// Says that your settings name a program by which cargo would run it.
    pub unused_runner: Option<String>,
    /// What it differs in from the baseline, besides its code: [`Revisions::compare_builds`].
    pub besides: BesidesCode,
    pub(super) commit: String,
    pub(super) ingredients: Ingredients,
}

impl Revisions {
    /// Opens the repository that contains the current directory. Waits until no other `lab` of this user
    /// compares revisions: it would disturb the measurement, and has the same worktrees.
    ///
    /// # Errors
    ///
    /// If the current directory is in no git repository, or if the directory of the worktrees cannot be made or locked.
    pub async fn open(results: &Path) -> anyhow::Result<Self> {
        let here = env::current_dir().context("cannot read the current directory")?;
        let trees = trees()?;
        // The sources in it need not be for everybody.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&trees);
        made.with_context(|| format!("cannot make {}", trees.display()))?;
        let trees = trees.canonicalize()?;
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
        let top = git::path(&here, &["rev-parse", "--show-toplevel"]).await?;
        let below_top = here.canonicalize()?.strip_prefix(&top).map(Path::to_owned);
        let revisions = Self {
            below_top: below_top.with_context(|| format!("not in {}", top.display()))?,
            top,
            trees,
            kept: here.canonicalize()?.join(results).join("revisions"),
            noted: Mutex::default(),
            _lock: lock,
        };
        revisions.remove_trees();
        kept::prune(&revisions.kept);
        Ok(revisions)
    }

    /// The hash of a revision.
    ///
    /// # Errors
    ///
    /// If there is no such revision.
    pub async fn commit(&self, revision: &str) -> anyhow::Result<String> {
        let commit = format!("{revision}^{{commit}}");
        let found = git::line(&self.top, &["rev-parse", "--verify", &commit]).await;
        found.with_context(|| format!("there is no revision `{revision}`"))
    }

    /// A hash of the compiler and the settings that all builds depend on, as they are now.
    ///
    /// # Errors
    ///
    /// If the compiler doesn't say its version.
    pub async fn settings(&self) -> anyhow::Result<u32> {
        let settings = Settings::of(&self.top.join(&self.below_top)).await?;
        Ok(settings.hash())
    }

    /// Says how many of your files none of these commits has, if one of them is what you have checked out.
    ///
    /// # Errors
    ///
    /// If git cannot list the files.
    pub async fn note_uncommitted(&self, commits: &[String]) -> anyhow::Result<()> {
        if self.commit("HEAD").await.is_ok_and(|head| commits.contains(&head)) {
            checkout::note_uncommitted(&self.top, &self.kept).await?;
        }
        Ok(())
    }

    /// Builds a binary or a bench at `revision`: as cargo does it, or with its functions in this many random orders.
    /// The build is kept, and cargo compiles again only what depends on a change.
    ///
    /// # Errors
    ///
    /// If there is no such revision, if it cannot be checked out, or if cargo fails.
    pub async fn build(
        &self,
        revision: &str,
        what: &Artifact,
        layouts: Option<u16>,
    ) -> anyhow::Result<Built> {
        let commit = self.commit(revision).await?;
        let (tree, dir) = self.tree(revision, &commit, "").await?;
        // Without a workspace, the build says so.
        let root = cargo::workspace_manifest(&dir).await;
        let root = root.unwrap_or_else(|_| dir.join("Cargo.toml"));
        self.lend_lock_file(&tree, &root)?;
        let built =
            self.build_in([&dir, &tree, &root], [revision, &commit, ""], what, layouts).await;
        let built = built.with_context(|| format!("cannot build {} at {revision}", what.name))?;
        self.note_runner(&built);
        Ok(built)
    }

    /// Like [`Self::build`], with another lock file than that of the commit.
    pub(super) async fn build_with_lock(
        &self,
        commit: &str,
        lock: &LockState,
        what: &Artifact,
    ) -> anyhow::Result<Built> {
        let suffix = format!("-{:08x}", lock.crc32());
        let (tree, dir) = self.tree(commit, commit, &suffix).await?;
        let root = cargo::workspace_manifest(&dir).await?;
        let file = lock_file_in(&tree, &root)?;
        fs::write(&file, &lock.text).with_context(|| format!("cannot write {}", file.display()))?;
        let title = format!("lock file {:08x}", lock.crc32());
        let built =
            self.build_in([&dir, &tree, &root], [&title, commit, &suffix], what, None).await;
        let built = built.with_context(|| format!("cannot build {} at {title}", what.name))?;
        self.note_runner(&built);
        Ok(built)
    }

    /// A worktree of a commit for moving its lock file, and the directory in it that corresponds to the current one.
    pub(super) async fn tree_for_locks(&self, commit: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
        self.tree(commit, commit, "-lock").await
    }

    /// The worktree of a commit, and the directory in it that corresponds to the current one.
    async fn tree(
        &self,
        revision: &str,
        commit: &str,
        suffix: &str,
    ) -> anyhow::Result<(PathBuf, PathBuf)> {
        // Always the same path: a binary may look for files where its sources were.
        let place = self.trees.join(format!("{commit}{suffix}"));
        let tree = checkout::check_out(&self.top, &place, commit).await?;
        let dir = tree.join(&self.below_top);
        ensure!(dir.is_dir(), "`{revision}` has no directory {}", self.below_top.display());
        Ok((tree, dir))
    }

    /// The root of the repository.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Says once that a setting isn't used.
    fn note_runner(&self, built: &Built) {
        if let Some(sentence) = &built.unused_runner {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.insert(sentence.clone()) {
                err!("note: {sentence}");
            }
        }
    }

    /// Records how each build differs from the first one, besides its code.
    ///
    /// # Errors
    ///
    /// If git cannot compare two commits.
    pub async fn compare_builds(&self, built: &mut [Built]) -> anyhow::Result<()> {
        let Some((baseline, candidates)) = built.split_first_mut() else { return Ok(()) };
        for candidate in candidates {
            let differences = baseline.ingredients.differences(&candidate.ingredients);
            let commits = [&*baseline.commit, &*candidate.commit];
            let is_all = !differences.is_empty()
                && changed_files::have_same_code(&self.top, commits).await?;
            candidate.besides = BesidesCode { is_all, differences };
        }
        Ok(())
    }

    async fn build_in(
        &self,
        [dir, tree, root]: [&Path; 3],
        [revision, commit, suffix]: [&str; 3],
        what: &Artifact,
        layouts: Option<u16>,
    ) -> anyhow::Result<Built> {
        let found = what.find(dir).await?;
        let settings = Settings::of(dir).await?;
        // What cargo can't list is built anew, and perhaps cargo says why it can't.
        let sources = PackageSources::of(dir, tree, &settings.host).await.ok();
        let key = format!("{} {} {}", what.key(), found.package, self.below_top.display());
        let kept =
            Kept::open(&self.kept, &format!("{commit}{suffix}"), &key, &settings, sources.as_ref())
                .await?;
        if kept.is_complete {
            checkout::make_old(tree).await?;
        }
        let name = &what.name;
        let short = &commit[..commit.len().min(10)];
        let title = if revision == short {
            format!("{name} at {short}")
        } else {
            format!("{name} at {revision} ({short})")
        };
        let side = RevisionBuild { title, what, found, dir, kept: &kept, host: &settings.host };
        let (built, compiled) = side.build(layouts).await?;
        let wrote_sources = sources.is_none() || checkout::has_new_files(tree).await?;
        kept.done(built.programs.first().context("there is a program")?, wrote_sources)?;
        let ingredients = Ingredients::of([dir, tree, root], what.profile(), &settings, compiled);
        Ok(Built { commit: commit.to_owned(), ingredients, ..built })
    }

    /// Copies your `Cargo.lock` to where a commit has none, because git ignores it: the dependencies are then those of
    /// your own builds, and the same ones on all sides.
    fn lend_lock_file(&self, tree: &Path, root: &Path) -> anyhow::Result<()> {
        let lock = root.with_file_name("Cargo.lock");
        let Ok(below) = lock.strip_prefix(tree) else { return Ok(()) };
        let yours = self.top.join(below);
        if !lock.exists() && yours.is_file() {
            fs::copy(&yours, &lock).with_context(|| format!("cannot copy {}", yours.display()))?;
        }
        Ok(())
    }

    /// Removes all worktrees of `lab`, and the repository's entries for them. The user's own worktrees stay, also those
    /// on a disk that isn't there now, which `git worktree prune` would forget.
    fn remove_trees(&self) {
        // A `drop` cannot wait for a future.
        let list = git::program(&self.top, &["worktree", "list", "--porcelain"]).wait();
        let list = String::from_utf8_lossy(&list.unwrap_or_default()).into_owned();
        for tree in list.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            if Path::new(tree).starts_with(&self.trees) {
                let remove = ["worktree", "remove", "--force", "--force", tree];
                let _ = git::program(&self.top, &remove).wait();
            }
        }
        for tree in self.trees.read_dir().into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(tree.path());
        }
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        self.remove_trees();
    }
}

/// The lock file of a worktree, for writing.
///
/// # Errors
///
/// If it is not in the worktree, where nothing of the user's is.
pub(super) fn lock_file_in(tree: &Path, root: &Path) -> anyhow::Result<PathBuf> {
    let file = root.with_file_name("Cargo.lock");
    ensure!(
        file.starts_with(tree) && !file.is_symlink(),
        "{} is outside the repository, so its crates can't be searched",
        file.display()
    );
    Ok(file)
}

/// A directory for worktrees that only this user can use, outside any repository.
fn trees() -> anyhow::Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache.context("HOME is not set")?.join("lab/worktrees"))
}

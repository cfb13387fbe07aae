//! The builds that `lab` keeps: a target directory for each commit, artifact and setting. What a program finds at run
//! time, such as the package's other programs or what its build script made, is then of its own build.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use lab_system::Program;

use super::{cargo::as_from_a_shell_elsewhere, seed::leave_dependencies, sources::PackageSources};

/// How many builds are kept besides those of the comparison.
const MOST: usize = 6;
/// A file in the directory of a complete build. Its time is that of the build's last use.
const COMPLETE: &str = "complete";
/// A link to what was measured.
const PROGRAM: &str = "program";
/// A file in the directory of a build that wrote among its sources, which are gone.
const WROTE: &str = "wrote-sources";
/// How long a copy of a target directory may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The build of a commit.
#[derive(Debug)]
pub struct Kept {
    dir: PathBuf,
    /// Whether it has been built before, from the same sources.
    pub is_complete: bool,
}

/// The settings that a build depends on, besides its commit and its artifact.
pub struct Settings {
    key: Vec<u8>,
    /// The version of the compiler, such as `1.95.0 (59807616e 2026-04-14)`.
    pub rustc: String,
    /// The platform of the compiler.
    pub host: String,
}

impl Kept {
    /// The directory of a build in `all`. A new one begins with the dependencies of the last build of another commit.
    pub async fn open(
        all: &Path,
        commit: &str,
        what: &str,
        settings: &Settings,
        sources: Option<&PackageSources>,
    ) -> anyhow::Result<Self> {
        let neighbours = sources.map_or(0, |sources| sources.neighbours);
        let what = crc32fast::hash(format!("{what} {neighbours}").as_bytes());
        let settings = format!("-{:08x}", settings.hash());
        let dir = all.join(format!("{commit}-{what:08x}{settings}"));
        if dir.join(WROTE).exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        // Nobody knows what the sources were that cargo can't list now.
        let is_complete = dir.join(COMPLETE).is_file() && sources.is_some();
        let kept = Self { dir, is_complete };
        if let Some(sources) =
            sources.filter(|sources| sources.can_share && !kept.target().exists())
        {
            let is_other = |name: &str| !name.starts_with(commit) && name.ends_with(&settings);
            let other = by_age(all).into_iter().find(|(name, dir, time)| {
                // Cargo would take for fresh what was built later than now.
                is_other(name) && dir.join(COMPLETE).is_file() && *time <= SystemTime::now()
            });
            if let Some((_, other, _)) = other {
                kept.begin_with(&other.join("target"), &sources.own).await;
            }
        }
        Ok(kept)
    }

    /// Copies what may be shared of a target directory, with the times of its files, by which cargo sees what is fresh.
    /// Without it, cargo compiles the dependencies anew.
    async fn begin_with(&self, other: &Path, own: &[String]) {
        let part = self.dir.join("target.part");
        let _ = fs::remove_dir_all(&part);
        let mut copy = Command::new("cp");
        copy.arg("-RPp").arg(other).arg(&part);
        let copied = Program::new(copy, PATIENCE).output().await;
        let is_right = copied.is_ok() && leave_dependencies(&part, own).is_ok();
        if !is_right || fs::rename(&part, self.target()).is_err() {
            let _ = fs::remove_dir_all(&part);
        }
    }

    pub fn target(&self) -> PathBuf {
        self.dir.join("target")
    }

    /// Notes that it is complete and is used now, with a link to its program; and whether it isn't to be used again.
    pub fn done(&self, program: &Path, wrote_sources: bool) -> anyhow::Result<()> {
        let link = self.dir.join(PROGRAM);
        let _ = fs::remove_file(&link);
        let noted = symlink(program, link)
            .and_then(|()| if wrote_sources { fs::write(self.dir.join(WROTE), "") } else { Ok(()) })
            .and_then(|()| fs::write(self.dir.join(COMPLETE), ""));
        noted.with_context(|| format!("cannot write into {}", self.dir.display()))
    }
}

/// Removes all but the builds that were used last.
pub fn prune(all: &Path) {
    for (_, dir, _) in by_age(all).into_iter().skip(MOST) {
        let _ = fs::remove_dir_all(dir);
    }
}

/// The name, path and last use of each build, the last one first.
fn by_age(all: &Path) -> Vec<(String, PathBuf, SystemTime)> {
    let entry = |dir: PathBuf| {
        let time = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let used = time(&dir.join(COMPLETE)).or_else(|| time(&dir))?;
        Some((dir.file_name()?.to_str()?.to_owned(), dir, used))
    };
    let dirs = all.read_dir().into_iter().flatten().flatten();
    let mut builds: Vec<_> = dirs.filter_map(|dir| entry(dir.path())).collect();
    builds.sort_by_key(|(_, _, used)| std::cmp::Reverse(*used));
    builds
}

impl Settings {
    pub fn hash(&self) -> u32 {
        crc32fast::hash(&self.key)
    }

    /// The compiler, the variables that cargo and rustc read, and your own settings of cargo.
    pub async fn of(dir: &Path) -> anyhow::Result<Self> {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = as_from_a_shell_elsewhere(rustc, dir);
        rustc.arg("-vV");
        let version = Program::new(rustc, PATIENCE).output().await?;
        let text = String::from_utf8_lossy(&version);
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc does not say its host")?.to_owned();
        let first = text.lines().next().unwrap_or_default();
        let rustc = first.trim_start_matches("rustc ").to_owned();
        let decides = |name: &str| {
            let prefixes =
                ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTC", "RUSTFLAGS"];
            name == "CARGO_ENCODED_RUSTFLAGS"
                || prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        let mut variables: Vec<_> = env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(decides))
            .map(|(name, value)| format!("{name:?}={value:?}\n"))
            .collect();
        variables.sort();
        let mut key = version;
        key.extend_from_slice(variables.concat().as_bytes());
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        if let Some(home) = home.or_else(|| Some(env::home_dir()?.join(".cargo"))) {
            key.extend(fs::read(home.join("config.toml")).unwrap_or_default());
        }
        Ok(Self { key, rustc, host })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: PackageSources =
        PackageSources { can_share: true, neighbours: 0, own: Vec::new() };

    async fn open(all: &Path, commit: &str, what: &str, sources: Option<&PackageSources>) -> Kept {
        let settings = Settings { key: vec![1], rustc: String::new(), host: String::new() };
        Kept::open(all, commit, what, &settings, sources).await.unwrap()
    }

    const DEPENDENCY: &str = "target/release/.fingerprint/serde-1a";

    /// A complete build of the artifact `x` at the commit `a`.
    async fn complete(all: &Path) {
        let first = open(all, "a", "x", Some(&SHARED)).await;
        assert!(!first.is_complete && !first.target().exists());
        fs::create_dir_all(first.dir.join(DEPENDENCY)).unwrap();
        first.done(all, false).unwrap();
    }

    #[tokio::test]
    async fn a_build_is_of_one_commit_artifact_and_neighbour() {
        let all = tempfile::tempdir().unwrap();
        complete(all.path()).await;
        assert!(open(all.path(), "a", "x", Some(&SHARED)).await.is_complete);
        assert!(!open(all.path(), "a", "x", None).await.is_complete);
    }

    #[tokio::test]
    async fn a_build_begins_with_that_of_another_commit() {
        let all = tempfile::tempdir().unwrap();
        complete(all.path()).await;
        let begins = async |commit: &str, what: &str, sources: &PackageSources| {
            let kept = open(all.path(), commit, what, Some(sources)).await;
            assert!(!kept.is_complete);
            kept.dir.join(DEPENDENCY).exists()
        };
        assert!(begins("b", "x", &SHARED).await);
        assert!(!begins("a", "y", &SHARED).await, "cargo would take a neighbour's for fresh");
        assert!(!begins("a", "x", &PackageSources { neighbours: 1, ..SHARED }).await);
        assert!(!begins("c", "x", &PackageSources { can_share: false, ..SHARED }).await);
    }

    #[tokio::test]
    async fn a_build_that_wrote_sources_is_not_used_again() {
        let all = tempfile::tempdir().unwrap();
        let wrote = open(all.path(), "a", "x", Some(&SHARED)).await;
        fs::create_dir(wrote.target()).unwrap();
        wrote.done(all.path(), true).unwrap();
        assert!(!open(all.path(), "a", "x", Some(&SHARED)).await.target().exists());
    }

    #[tokio::test]
    async fn old_builds_are_removed() {
        let all = tempfile::tempdir().unwrap();
        for commit in 0..MOST + 3 {
            open(all.path(), &format!("c{commit}"), "x", None)
                .await
                .done(all.path(), false)
                .unwrap();
        }
        prune(all.path());
        assert_eq!(by_age(all.path()).len(), MOST);
    }
}

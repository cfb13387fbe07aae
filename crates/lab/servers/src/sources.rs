//! The sources of a build that are not in its commit.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use crc32fast::Hasher;
use lab_system::Program;
use serde::Deserialize;

use super::{
    cargo::{self, as_from_a_shell_elsewhere},
    checkout::cargo_home,
};

/// The sources of a revision's packages.
#[derive(Debug)]
pub struct PackageSources {
    /// Whether a build of another commit may begin with what this one's build has compiled: all packages are from
    /// registries, whose versions never change, or part of the commit, so that their files are young.
    pub can_share: bool,
    /// A hash of the packages next to the repository, which no commit names.
    pub neighbours: u32,
    /// The names of the packages that are from no registry.
    pub own: Vec<String>,
}

#[derive(Deserialize)]
struct SourceList {
    packages: Vec<SourcePackage>,
}

#[derive(Deserialize)]
struct SourcePackage {
    name: String,
    manifest_path: PathBuf,
    source: Option<String>,
}

impl PackageSources {
    /// The sources of all packages that the workspace around `dir` may need on this machine, with any features.
    pub async fn of(dir: &Path, tree: &Path, host: &str) -> anyhow::Result<Self> {
        let mut cargo = as_from_a_shell_elsewhere("cargo", dir);
        cargo.args(["metadata", "--all-features", "--format-version", "1"]);
        cargo.args(["--filter-platform", host]);
        let printed = Program::new(cargo, cargo::PATIENCE).output().await?;
        let SourceList { packages } = serde_json::from_slice(&printed).context("cargo metadata")?;
        let home = cargo_home();
        let is_of_registry = |package: &SourcePackage| {
            package.source.is_some()
                && home.as_ref().is_some_and(|home| package.manifest_path.starts_with(home))
        };
        let own: Vec<_> = packages.iter().filter(|package| !is_of_registry(package)).collect();
        let is_of_commit = |package: &SourcePackage| {
            package.source.is_none() && package.manifest_path.starts_with(tree)
        };
        let mut content = Hasher::new();
        for package in own.iter().filter(|package| !package.manifest_path.starts_with(tree)) {
            add(package.manifest_path.parent().unwrap_or(tree), &mut content);
        }
        let can_share = own.iter().all(|package| is_of_commit(package));
        let own = own.iter().map(|package| package.name.clone()).collect();
        Ok(Self { can_share, neighbours: content.finalize(), own })
    }
}

/// Adds the names and the contents of all files in a directory, but for what was built and what git keeps.
fn add(path: &Path, content: &mut Hasher) {
    content.update(path.as_os_str().as_encoded_bytes());
    if path.is_dir() {
        let entries = path.read_dir().into_iter().flatten().flatten();
        let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
        entries.retain(|path| {
            !(path.ends_with("target") || path.ends_with(".git") || path.is_symlink())
        });
        entries.sort();
        entries.iter().for_each(|entry| add(entry, content));
    } else if path.is_file() {
        // In parts: there may be large data next to a neighbour's sources.
        let mut part = vec![0; 1 << 16];
        let mut file = fs::File::open(path).ok();
        while let Some(length) = file.as_mut().and_then(|file| file.read(&mut part).ok()) {
            if length == 0 {
                break;
            }
            content.update(&part[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_neighbour_is_another_one_if_its_content_is_and_not_if_its_time_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("src/lib.rs");
        fs::create_dir_all(dir.path().join("src")).unwrap();
        let write = |text: &str, seconds: u64| {
            fs::write(&file, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::open(&file).unwrap().set_modified(time).unwrap();
            let mut content = Hasher::new();
            add(dir.path(), &mut content);
            content.finalize()
        };
        let old = write("old", 1);
        assert_eq!(write("old", 2), old);
        assert_ne!(write("new", 1), old);
    }
}

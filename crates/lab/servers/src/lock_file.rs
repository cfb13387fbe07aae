//! What a `Cargo.lock` pins, and how two of them differ. Cargo's versions of the file write the same packages in other
//! ways, so packages are compared, and not lines.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::Context as _;
use serde::Deserialize;

/// The places of crates.io, whose crates need no place next to their version.
const CRATES_IO: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// The packages of a lock file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockFile {
    pub packages: Vec<LockedPackage>,
}

/// A package of a lock file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct LockedPackage {
    pub name: String,
    pub version: String,
    /// The registry or the git repository; `None` for a package in a directory, such as a member of the workspace.
    pub source: Option<String>,
    /// The packages that it needs, each with its version.
    #[serde(default)]
    pub dependencies: Vec<LockedDependency>,
}

/// A package that another one needs.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(from = "String")]
pub struct LockedDependency {
    pub name: String,
    /// The lock file leaves it out where there is one version, and [`LockFile::read`] looks it up.
    pub version: String,
}

/// A crate that two lock files pin to other versions. Several versions of one crate may be in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct CrateChange {
    pub name: String,
    /// The versions that only the older file has; empty if the crate is new.
    pub from: Vec<String>,
    /// The versions that only the newer file has; empty if the crate is gone.
    pub to: Vec<String>,
}

#[derive(Deserialize)]
struct LockedPackages {
    #[serde(default)]
    package: Vec<LockedPackage>,
}

impl LockFile {
    /// Reads a `Cargo.lock` of any version.
    ///
    /// # Errors
    ///
    /// If the file can't be read, or is no lock file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Self::of(&text).with_context(|| format!("{} is no lock file", path.display()))
    }

    fn of(text: &str) -> anyhow::Result<Self> {
        let LockedPackages { package: mut packages } = toml::from_str(text)?;
        let versions: BTreeMap<_, _> = packages
            .iter()
            .map(|package| (package.name.clone(), package.version.clone()))
            .collect();
        for dependency in packages.iter_mut().flat_map(|package| &mut package.dependencies) {
            if dependency.version.is_empty()
                && let Some(version) = versions.get(&dependency.name)
            {
                dependency.version.clone_from(version);
            }
        }
        Ok(Self { packages })
    }

    /// The crates of registries and git repositories whose versions differ in a newer lock file, by name.
    pub fn changes(&self, newer: &Self) -> Vec<CrateChange> {
        let (old, new) = (self.versions(), newer.versions());
        let is_pinned = |name: &&String| {
            let mut packages = self.packages.iter().chain(&newer.packages);
            packages.any(|package| package.name == **name && package.source.is_some())
        };
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        let none = BTreeSet::new();
        let change = |name: &String| {
            let [from, to] = [&old, &new].map(|all| all.get(name).unwrap_or(&none));
            let only = |one: &BTreeSet<Version>, other: &BTreeSet<Version>| {
                one.difference(other).map(Version::to_string).collect::<Vec<_>>()
            };
            let (from, to) = (only(from, to), only(to, from));
            (from != to).then(|| CrateChange { name: name.clone(), from, to })
        };
        names.into_iter().filter(is_pinned).filter_map(change).collect()
    }

    fn versions(&self) -> BTreeMap<String, BTreeSet<Version>> {
        let mut all: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for package in &self.packages {
            all.entry(package.name.clone()).or_default().insert(Version::of(package));
        }
        all
    }
}

impl From<String> for LockedDependency {
    /// From `serde`, `serde 1.0.228`, or `serde 1.0.228 (registry+https://…)`.
    fn from(text: String) -> Self {
        let mut words = text.split(' ').map(str::to_owned);
        Self { name: words.next().unwrap_or_default(), version: words.next().unwrap_or_default() }
    }
}

/// A version in the order of versions: 0.9.1 is before 0.10.0.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Version {
    number: Option<semver::Version>,
    text: String,
    place: Option<String>,
}

impl Version {
    fn of(package: &LockedPackage) -> Self {
        let text = package.version.clone();
        let number = text.parse().ok();
        Self { number, text, place: place(package.source.as_deref()) }
    }
}

impl std::fmt::Display for Version {
    /// `1.2.3`, or `1.2.3 (git 0123abcd)`
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(out, " ({place})"))
    }
}

/// Where a package is from, unless it is from crates.io: the commit of a git repository, or the host of a registry. A
/// branch isn't part of it, because cargo's versions write it in other ways.
fn place(source: Option<&str>) -> Option<String> {
    let Some(source) = source else { return Some("path".to_owned()) };
    if CRATES_IO.contains(&source) {
        return None;
    }
    if let (true, Some((_, commit))) = (source.starts_with("git+"), source.rsplit_once('#')) {
        return Some(format!("git {}", &commit[..commit.len().min(8)]));
    }
    let (_, address) = source.split_once("://").unwrap_or(("", source));
    let host = address.split('/').next().unwrap_or_default();
    // An address may have a password before its host.
    Some(host.rsplit('@').next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn package(name: &str, version: &str, source: &str) -> String {
        let source =
            if source.is_empty() { String::new() } else { format!("source = \"{source}\"\n") };
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\n")
    }

    fn locked(packages: &[(&str, &str, &str)]) -> LockFile {
        let packages = packages.iter().map(|(name, version, source)| {
            package(name, version, if *source == "R" { REGISTRY } else { source })
        });
        LockFile::of(&format!("version = 4\n\n{}", packages.collect::<String>())).unwrap()
    }

    fn changes(old: &LockFile, new: &LockFile) -> Vec<String> {
        let text = |change: CrateChange| {
            format!("{} {} -> {}", change.name, change.from.join(", "), change.to.join(", "))
        };
        old.changes(new).into_iter().map(text).collect()
    }

    #[test]
    fn a_crate_is_updated_added_or_removed() {
        let old = locked(&[("b", "0.9.1", "R"), ("gone", "1.0.0", "R"), ("same", "2.0.0", "R")]);
        let new = locked(&[("b", "0.10.0", "R"), ("a", "1.0.0", "R"), ("same", "2.0.0", "R")]);
        assert_eq!(changes(&old, &new), ["a  -> 1.0.0", "b 0.9.1 -> 0.10.0", "gone 1.0.0 -> "]);
        assert_eq!(changes(&new, &old)[1], "b 0.10.0 -> 0.9.1");
    }

    #[test]
    fn of_several_versions_only_those_that_differ_are_listed() {
        let old = locked(&[("x", "0.9.0", "R"), ("x", "0.10.0", "R"), ("x", "1.0.0", "R")]);
        let new = locked(&[("x", "1.0.0", "R"), ("x", "2.0.0", "R")]);
        assert_eq!(changes(&old, &new), ["x 0.9.0, 0.10.0 -> 2.0.0"]);
        let added = locked(&[("x", "1.0.0", "R"), ("x", "2.0.0", "R"), ("x", "0.9.0", "R")]);
        assert_eq!(changes(&new, &added), ["x  -> 0.9.0"]);
    }

    #[test]
    fn members_of_the_workspace_are_not_listed_and_a_crate_that_becomes_local_is() {
        let old = locked(&[("api", "0.1.0", ""), ("x", "1.0.0", "R")]);
        let new = locked(&[("api", "0.2.0", ""), ("tool", "1.0.0", ""), ("x", "1.0.0", "")]);
        assert_eq!(changes(&old, &new), ["x 1.0.0 -> 1.0.0 (path)"]);
    }

    #[test]
    fn a_crate_of_git_differs_by_its_commit_and_one_of_a_registry_by_its_host() {
        let git = |query: &str, commit: &str| {
            locked(&[("x", "1.0.0", &format!("git+https://h/x{query}#{commit}"))])
        };
        let [one, other] = ["0123456789abcdef", "fedcba9876543210"];
        let expected = ["x 1.0.0 (git 01234567) -> 1.0.0 (git fedcba98)"];
        assert_eq!(changes(&git("", one), &git("", other)), expected);
        let own = locked(&[("x", "1.0.0", "sparse+https://me:secret@crates.example/index/")]);
        let public = locked(&[("x", "1.0.0", "R")]);
        assert_eq!(changes(&public, &own), ["x 1.0.0 -> 1.0.0 (crates.example)"]);
    }

    #[test]
    fn the_same_packages_in_another_order_or_version_of_the_file_are_no_change() {
        let [a, b] = [("a", "1.0.0", "R"), ("b", "2.0.0", "R")];
        assert_eq!(locked(&[a, b]).changes(&locked(&[b, a])), []);
        let sparse = ("a", "1.0.0", "sparse+https://index.crates.io/");
        assert_eq!(locked(&[a]).changes(&locked(&[sparse])), []);
        // Version 4 encodes the name of a branch, and version 1 names each dependency in full.
        let git = |branch: &str| format!("git+https://h/c?branch={branch}#0123456789abcdef");
        let third = format!("version = 3\n{}", package("c", "1.0.0", &git("a/b")));
        let fourth = format!("version = 4\n{}", package("c", "1.0.0", &git("a%2Fb")));
        let [third, fourth] = [third, fourth].map(|text| LockFile::of(&text).unwrap());
        assert_eq!(third.changes(&fourth), []);
        let needs = |dependency: &str| {
            let [a, b] = ["a", "b"].map(|name| package(name, "1.0.0", REGISTRY));
            let text = format!("{b}{}\ndependencies = [\"{dependency}\"]\n", a.trim_end());
            LockFile::of(&text).unwrap()
        };
        let first = needs(&format!("b 1.0.0 ({REGISTRY})"));
        assert_eq!(first, needs("b"));
        assert_eq!(first.packages[1].dependencies[0].version, "1.0.0");
    }

    #[test]
    fn what_is_no_lock_file_is_an_error_and_an_empty_one_has_no_packages() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Cargo.lock");
        let error = || LockFile::read(&path).unwrap_err().to_string();
        assert!(error().starts_with("cannot read "));
        fs::write(&path, "<<<<<<< main\n").unwrap();
        assert!(error().ends_with("Cargo.lock is no lock file"));
        fs::write(&path, "version = 4\n").unwrap();
        assert_eq!(LockFile::read(&path).unwrap(), LockFile::default());
    }
}

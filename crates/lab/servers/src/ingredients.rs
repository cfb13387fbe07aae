//! What a build is made of besides its code: the crates, the compiler and how it is called.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use lab_protocol::{BuildAspect, BuildDifference};
use lab_system::plain;
use toml::Table;

use super::{
    build_profile::profile,
    cargo::CompiledTarget,
    cargo_settings::CargoSettings,
    kept::Settings,
    lock_file::{CrateChange, LockFile},
};

/// What cargo and rustc said of a build, and what the files of its revision say that they read.
#[derive(Clone, Debug, Default)]
pub struct Ingredients {
    lock_file: Option<LockFile>,
    compiled: CompiledCrates,
    rustc: String,
    profile: BTreeMap<String, String>,
    settings: CargoSettings,
    host: String,
}

/// The crates that cargo compiled, with the features of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompiledCrates {
    versions: BTreeSet<[String; 2]>,
    features: BTreeMap<String, BTreeSet<String>>,
}

impl Ingredients {
    /// Those of the build in `dir`, whose workspace has its manifest at `root`. Read after the build, because cargo may
    /// complete the lock file.
    pub fn of(
        [dir, tree, root]: [&Path; 3],
        profile_name: &str,
        settings: &Settings,
        compiled: CompiledCrates,
    ) -> Self {
        let own = CargoSettings::read(dir, tree);
        let manifest = fs::read_to_string(root).ok().and_then(|text| text.parse::<Table>().ok());
        let profiles = manifest.as_ref().and_then(|manifest| manifest.get("profile")?.as_table());
        Self {
            // Without one, nothing is pinned.
            lock_file: LockFile::read(&root.with_file_name("Cargo.lock")).ok(),
            compiled,
            rustc: settings.rustc.clone(),
            profile: profile(profile_name, [profiles, own.profiles()]),
            settings: own,
            host: settings.host.clone(),
        }
    }

    /// What the other build is made of instead.
    pub fn differences(&self, other: &Self) -> Vec<BuildDifference> {
        let mut all = Vec::new();
        if let (Some(lock_file), Some(others)) = (&self.lock_file, &other.lock_file) {
            for CrateChange { name, from, to } in lock_file.changes(others) {
                let versions = || from.iter().chain(&to);
                let is_used =
                    [self, other].into_iter().any(|it| it.compiled.has(&name, versions()));
                let aspect = if is_used { BuildAspect::Crate } else { BuildAspect::UnusedCrate };
                all.push(BuildDifference { aspect, name, from, to });
            }
        }
        let [from, to] = [self, other].map(|it| Some(&it.rustc));
        all.extend(BuildDifference::of_values(BuildAspect::Toolchain, "rustc", [from, to]));
        let keys: BTreeSet<_> = self.profile.keys().chain(other.profile.keys()).collect();
        for key in keys {
            let values = [self, other].map(|it| it.profile.get(key));
            all.extend(BuildDifference::of_values(BuildAspect::Profile, key, values));
        }
        all.extend(self.compiled.features_apart(&other.compiled));
        let has_own_flags =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"].iter().any(|name| env::var_os(name).is_some());
        all.extend(self.settings.differences(&other.settings, &self.host, has_own_flags));
        all.sort_by_key(|difference| difference.aspect);
        all.into_iter().map(plainly).collect()
    }
}

/// Without what a terminal would obey: the names are from files that anybody may have written.
fn plainly(difference: BuildDifference) -> BuildDifference {
    let BuildDifference { aspect, name, from, to } = difference;
    let [from, to] = [from, to].map(|list| list.iter().map(|text| plain(text)).collect());
    BuildDifference { aspect, name: plain(&name), from, to }
}

impl CompiledCrates {
    pub fn of(messages: &[CompiledTarget]) -> Self {
        let mut all = Self::default();
        for CompiledTarget { package_id, features, .. } in messages {
            if let Some([name, version]) = package(package_id) {
                all.features.entry(name.clone()).or_default().extend(features.iter().cloned());
                all.versions.insert([name, version]);
            }
        }
        all
    }

    /// Whether one of these versions of a crate was compiled.
    fn has<'a>(&self, name: &str, mut versions: impl Iterator<Item = &'a String>) -> bool {
        // A version may be followed by where it is from.
        let number = |version: &str| version.split(' ').next().unwrap_or_default().to_owned();
        versions.any(|version| self.versions.contains(&[name.to_owned(), number(version)]))
    }

    /// The features that a crate has on one side only. If only one side has a crate, the lock file shows it.
    fn features_apart(&self, other: &Self) -> Vec<BuildDifference> {
        let mut all = Vec::new();
        for (name, from) in &self.features {
            if let Some(to) = other.features.get(name) {
                let only = |one: &BTreeSet<String>, other| one.difference(other).cloned().collect();
                let (from, to) = (only(from, to), only(to, from));
                all.extend(BuildDifference::of_lists(BuildAspect::Features, name, from, to));
            }
        }
        all
    }
}

/// The name and the version of a package in cargo's messages: `registry+https://…#serde@1.0.0`, `path+file:///api#0.1.0`,
/// and before cargo 1.77 `serde 1.0.0 (registry+https://…)`.
fn package(id: &str) -> Option<[String; 2]> {
    if let Some((place, rest)) = id.rsplit_once('#').filter(|_| !id.ends_with(')')) {
        let directory = place.split('?').next()?.trim_end_matches('/').rsplit('/').next()?;
        let (name, version) = rest.split_once('@').unwrap_or((directory, rest));
        return Some([name.to_owned(), version.to_owned()]);
    }
    let mut words = id.split(' ').map(str::to_owned);
    Some([words.next()?, words.next()?])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compiled(crates: &[(&str, &[&str])]) -> CompiledCrates {
        let messages = crates.iter().map(|(id, features)| {
            let target = json!({ "name": "x", "kind": ["lib"], "src_path": "/s" });
            let message = json!({ "package_id": id, "features": features, "target": target, "fresh": true, "executable": null });
            serde_json::from_value(message).unwrap()
        });
        CompiledCrates::of(&messages.collect::<Vec<_>>())
    }

    #[test]
    fn a_package_is_named_by_every_cargo() {
        for (id, name) in [
            ("registry+https://github.com/rust-lang/crates.io-index#a-b@1.0.0", "a-b"),
            ("git+https://h/repository?branch=x#a-b@1.0.0", "a-b"),
            ("git+https://h/a-b?branch=x#1.0.0", "a-b"),
            ("path+file:///home/me/a-b#1.0.0", "a-b"),
            ("a-b 1.0.0 (git+https://h/a-b#0123)", "a-b"),
        ] {
            assert_eq!(package(id), Some([name.to_owned(), "1.0.0".to_owned()]), "{id}");
        }
        assert_eq!(package(""), None);
    }

    #[test]
    fn a_crate_that_no_build_compiled_is_told_from_one_that_was() {
        let pinned = |version: &str| {
            let source = "registry+https://github.com/rust-lang/crates.io-index";
            let package = |name: &str| {
                format!(
                    "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\n"
                )
            };
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("Cargo.lock");
            fs::write(&path, package("used") + &package("windows")).unwrap();
            let compiled = compiled(&[(&format!("registry+x#used@{version}"), &[])]);
            Ingredients {
                lock_file: LockFile::read(&path).ok(),
                compiled,
                ..Ingredients::default()
            }
        };
        let differences = pinned("1.0.0").differences(&pinned("2.0.0"));
        let found: Vec<_> = differences.iter().map(|it| (it.aspect, &*it.name)).collect();
        assert_eq!(found, [(BuildAspect::Crate, "used"), (BuildAspect::UnusedCrate, "windows")]);
        assert_eq!(pinned("1.0.0").differences(&pinned("1.0.0")), []);
    }

    #[test]
    fn features_of_a_crate_differ_and_those_of_a_new_one_do_not() {
        let one = compiled(&[("r#a@1.0.0", &["std", "x"]), ("r#a@2.0.0", &["y"])]);
        let other = compiled(&[("r#a@1.0.0", &["std", "z", "y"]), ("r#b@1.0.0", &["std"])]);
        let found = one.features_apart(&other);
        let [BuildDifference { name, from, to, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&**name, from.concat(), to.concat()), ("a", "x".into(), "z".into()));
        assert_eq!(one.features_apart(&one), []);
    }

    #[test]
    fn the_compiler_and_each_key_of_the_profile_differ() {
        let of = |rustc: &str, lto: &str| Ingredients {
            rustc: rustc.to_owned(),
            profile: [("lto".to_owned(), lto.to_owned())].into(),
            ..Ingredients::default()
        };
        let found = of("1.94.0", "false").differences(&of("1.95.0", "fat"));
        let found: Vec<_> = found.iter().map(|it| format!("{}{:?}", it.name, it.to)).collect();
        assert_eq!(found, ["rustc[\"1.95.0\"]", "lto[\"fat\"]"]);
    }
}

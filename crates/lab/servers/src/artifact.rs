//! The program or bench to build from a revision, and the package that has it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use lab_cases::unknown;
use lab_system::Program;
use serde::Deserialize;

use super::cargo::{self, as_from_a_shell_elsewhere};

/// A binary or a bench, with arguments for the cargo that builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// The kind in cargo's messages, which is also its option.
    kind: &'static str,
    pub name: String,
    package: Option<String>,
    args: Vec<String>,
}

/// A target of a package, as cargo describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct CargoTarget {
    pub name: String,
    pub kind: Vec<String>,
    /// Tells it from targets of other packages with its name.
    pub src_path: PathBuf,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Member {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<CargoTarget>,
}

#[derive(Debug, Deserialize)]
struct Members {
    packages: Vec<Member>,
}

/// An [`Artifact`] of a revision.
#[derive(Debug)]
pub struct FoundArtifact {
    pub package: String,
    pub target: CargoTarget,
}

impl Artifact {
    /// From `NAME`, or `NAME --features x --package y`.
    ///
    /// # Errors
    ///
    /// If the text has no name, or arguments that don't choose features or a package.
    pub fn bin(text: &str) -> anyhow::Result<Self> {
        Self::of("bin", text)
    }

    /// From `NAME`, or `NAME --features x --package y`.
    ///
    /// # Errors
    ///
    /// If the text has no name, or arguments that don't choose features or a package.
    pub fn bench(text: &str) -> anyhow::Result<Self> {
        Self::of("bench", text)
    }

    fn of(kind: &'static str, text: &str) -> anyhow::Result<Self> {
        let words = shell_words::split(text)
            .with_context(|| format!("--{kind} has unbalanced quotes: {text}"))?;
        let mut words = words.into_iter();
        let name = words.next().filter(|name| !name.starts_with('-'));
        let name = name.with_context(|| format!("--{kind} needs a name: {text}"))?;
        let (mut package, mut args) = (None, Vec::new());
        while let Some(word) = words.next() {
            if word == "-p" || word == "--package" {
                package = Some(words.next().with_context(|| format!("{word} needs a name"))?);
            } else if let Some(name) = word.strip_prefix("--package=") {
                package = Some(name.to_owned());
            } else {
                args.push(word);
            }
        }
        Ok(Self { kind, name, package, args })
    }

    pub fn is_bench(&self) -> bool {
        self.kind == "bench"
    }

    /// A key of everything that a build of the artifact depends on besides its commit.
    pub fn key(&self) -> String {
        format!("{self:?}")
    }

    /// The arguments of a cargo that builds or runs it, in the profile of its kind unless another one is named.
    pub fn arguments(&self, found: &FoundArtifact) -> Vec<String> {
        let mut args = vec!["--package".to_owned(), found.package.clone()];
        let is_profile = |argument: &String| {
            argument.starts_with("--profile") || argument == "--release" || argument == "-r"
        };
        if !self.args.iter().any(is_profile) {
            // Cargo names no profile `release` for a bench, so that its settings for benches hold.
            args.extend(["--profile".to_owned(), self.profile().to_owned()]);
        }
        args.extend(self.args.iter().cloned());
        args
    }

    /// The profile that it is built in.
    pub fn profile(&self) -> &str {
        let mut args = self.args.iter().map(String::as_str);
        while let Some(argument) = args.next() {
            match argument {
                "--release" | "-r" => return "release",
                "--profile" => return args.next().unwrap_or_default(),
                argument => {
                    if let Some(name) = argument.strip_prefix("--profile=") {
                        return name;
                    }
                }
            }
        }
        if self.is_bench() { "bench" } else { "release" }
    }

    /// Cargo's option for the artifact.
    pub fn option(&self) -> [String; 2] {
        [format!("--{}", self.kind), self.name.clone()]
    }

    /// Looks for it among the packages of the workspace around `dir`.
    ///
    /// # Errors
    ///
    /// If no package has it, or if several have and nothing says which one is meant: the package that is named, or else
    /// the one whose directory `dir` is in, as in cargo.
    pub async fn find(&self, dir: &Path) -> anyhow::Result<FoundArtifact> {
        let mut cargo = as_from_a_shell_elsewhere("cargo", dir);
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
        let printed = Program::new(cargo, cargo::SHORT_PATIENCE).output().await?;
        self.among(serde_json::from_slice(&printed).context("cargo metadata")?, dir)
    }

    fn among(&self, metadata: Members, dir: &Path) -> anyhow::Result<FoundArtifact> {
        let (kind, name) = (self.kind, &self.name);
        let is_kind = |target: &CargoTarget| target.kind.iter().any(|other| other == kind);
        let targets = metadata.packages.iter().flat_map(|package| &package.targets);
        let names = targets.filter(|target| is_kind(target)).map(|target| target.name.clone());
        let names: Vec<_> = names.collect();
        let here =
            dir.ancestors().map(|dir| dir.join("Cargo.toml")).find(|manifest| manifest.is_file());
        let mut found = Vec::new();
        for Member { name: package, manifest_path, targets } in metadata.packages {
            let target = targets.into_iter().find(|target| is_kind(target) && target.name == *name);
            let is_here = here.as_ref() == Some(&manifest_path);
            found.extend(target.map(|target| (is_here, FoundArtifact { package, target })));
        }
        ensure!(!found.is_empty(), unknown(kind, name, names.iter().map(String::as_str)));
        let packages: Vec<_> = found.iter().map(|(_, found)| found.package.clone()).collect();
        let choices = packages.join(", ");
        if let Some(wanted) = &self.package {
            // Cargo also takes NAME@VERSION.
            let wanted = wanted.split('@').next().unwrap_or(wanted);
            let found = found.into_iter().find(|(_, found)| found.package == wanted);
            return Ok(found.with_context(|| {
                format!("the package {wanted} has no {kind} `{name}`; a {kind} of that name is in {choices}")
            })?.1);
        }
        let is_one = found.len() == 1;
        match found.into_iter().find(|(is_here, _)| is_one || *is_here) {
            Some((_, found)) => Ok(found),
            None => bail!(
                "several packages have a {kind} `{name}`: {choices}; choose one, as in --{kind} '{name} --package {}'",
                packages[0]
            ),
        }
    }

    /// Advice for an artifact that can't be built.
    pub fn hint(&self, found: &FoundArtifact) -> Option<String> {
        let features = found.target.required_features.join(",");
        let option = &self.kind;
        (!features.is_empty()).then(|| {
            format!(
                "it needs features of its package, as in --{option} '{} --features {features}'",
                self.name
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace() -> Members {
        let package = |name: &str, kinds: &[(&str, &str)]| {
            let target = |(kind, name): &(&str, &str)| json!({ "name": name, "kind": [kind], "src_path": format!("/{kind}/{name}.rs") });
            let targets: Vec<_> = kinds.iter().map(target).collect();
            json!({ "name": name, "manifest_path": format!("/w/{name}/Cargo.toml"), "targets": targets })
        };
        let packages = [
            package("alpha", &[("bench", "speed"), ("bin", "tool")]),
            package("omega", &[("bench", "speed"), ("bench", "tool")]),
        ];
        serde_json::from_value(json!({ "packages": packages })).unwrap()
    }

    #[test]
    fn the_profile_is_that_of_the_arguments_or_of_the_kind() {
        let [bin, bench] = [Artifact::bin("x").unwrap(), Artifact::bench("x").unwrap()];
        assert_eq!((bin.profile(), bench.profile()), ("release", "bench"));
        for (text, profile) in
            [("x -r", "release"), ("x --profile quick", "quick"), ("x --profile=quick", "quick")]
        {
            assert_eq!(Artifact::bench(text).unwrap().profile(), profile);
        }
    }

    #[test]
    fn a_name_in_several_packages_is_an_error_unless_one_is_chosen() {
        let find = |artifact: anyhow::Result<Artifact>| {
            let found = artifact.and_then(|artifact| artifact.among(workspace(), Path::new("/w")));
            found.map(|found| found.package).map_err(|error| error.to_string())
        };
        let bench = |text: &str| find(Artifact::bench(text));
        let several = "several packages have a bench `speed`: alpha, omega; choose one, as in --bench 'speed --package alpha'";
        assert_eq!(bench("speed").unwrap_err(), several);
        for package in ["--package omega", "-p omega", "--package=omega", "-p omega@0.1.0"] {
            assert_eq!(bench(&format!("speed --features x {package}")).unwrap(), "omega");
        }
        assert_eq!(bench("tool").unwrap(), "omega");
        assert_eq!(find(Artifact::bin("tool")).unwrap(), "alpha");
        let missing = bench("tool --package alpha").unwrap_err();
        assert_eq!(
            missing,
            "the package alpha has no bench `tool`; a bench of that name is in omega"
        );
        assert_eq!(bench("spede").unwrap_err(), "no bench is named `spede`; did you mean `speed`?");
        for wrong in ["", "--package x", "speed -p", "'speed"] {
            Artifact::bench(wrong).unwrap_err();
        }
    }
}

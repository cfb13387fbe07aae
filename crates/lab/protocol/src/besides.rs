//! What two builds differ in besides their code.

use serde::{Deserialize, Serialize};

/// What a build differs in from the baseline's, besides its code.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct BesidesCode {
    /// Whether no source file differs, so that only this can be the cause of another speed. Always false for
    /// commands, because `lab` can't see their sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_all: bool,
    /// In the order of their aspects.
    pub differences: Vec<BuildDifference>,
}

/// A difference between two builds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct BuildDifference {
    pub aspect: BuildAspect,
    /// What differs in this aspect: a crate, a key of a profile, a variable.
    pub name: String,
    /// What the baseline has: versions of a crate, features, the words of flags, a value. Empty if it has nothing.
    pub from: Vec<String>,
    pub to: Vec<String>,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildAspect {
    /// The versions of a crate that was compiled.
    Crate,
    /// The version of rustc.
    Toolchain,
    /// A key of the profile.
    Profile,
    /// The features of a crate that only one side was compiled with.
    Features,
    /// The words of `RUSTFLAGS`, by cargo's setting.
    Flags,
    /// A variable that cargo's settings add to the environment.
    Environment,
    /// Another setting of cargo.
    Setting,
    /// What allocates memory in the process.
    Allocator,
    /// The bytes of the program.
    Size,
    /// A library that the process has loaded.
    Library,
    /// The versions of a crate of the lock file that neither build compiled, such as one for another system.
    UnusedCrate,
}

/// What leads from one state of a program's history to the next one.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryChange {
    Commit {
        hash: String,
        /// The first line of its message.
        subject: String,
    },
    /// Crates of the lock file that only fit together.
    Crates(Vec<BuildDifference>),
}

impl BesidesCode {
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }
}

impl BuildDifference {
    /// A difference between single values, if they differ.
    pub fn of_values(
        aspect: BuildAspect,
        name: &str,
        [from, to]: [Option<&String>; 2],
    ) -> Option<Self> {
        let values = |value: Option<&String>| value.cloned().into_iter().collect();
        let [from, to] = [from, to].map(values);
        Self::of_lists(aspect, name, from, to)
    }

    /// A difference between lists, if they differ.
    pub fn of_lists(
        aspect: BuildAspect,
        name: &str,
        from: Vec<String>,
        to: Vec<String>,
    ) -> Option<Self> {
        (from != to).then(|| Self { aspect, name: name.to_owned(), from, to })
    }
}

//! What a search has decided, in a file: it goes on there after Ctrl-C.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use lab_stats::Like;
use serde::{Deserialize, Serialize};

/// Which state is like which end, and the pairs that the ends were measured in.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Decided {
    /// Logarithms of the ratios of the ends.
    pairs: Vec<f64>,
    /// By the name of the build.
    states: BTreeMap<String, Like>,
}

#[derive(Debug)]
pub struct SearchJournal {
    path: PathBuf,
    decided: Decided,
}

impl SearchJournal {
    /// That of a search, which `key` describes. It is empty if the search is new, and if the file can't be read.
    pub fn open(results: &Path, key: &str) -> Self {
        let name = format!("{:08x}.json", crc32fast::hash(key.as_bytes()));
        let path = results.join("bisect").join(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        Self { path, decided: serde_json::from_str(&text).unwrap_or_default() }
    }

    pub fn pairs(&self) -> &[f64] {
        &self.decided.pairs
    }

    pub fn of(&self, state: &str) -> Option<Like> {
        self.decided.states.get(state).copied()
    }

    pub fn decide_ends(&mut self, pairs: &[f64]) -> anyhow::Result<()> {
        self.decided.pairs = pairs.to_owned();
        self.write()
    }

    pub fn decide(&mut self, state: &str, like: Like) -> anyhow::Result<()> {
        self.decided.states.insert(state.to_owned(), like);
        self.write()
    }

    /// Removes the file: the search is over.
    pub fn end(self) {
        let _ = fs::remove_file(&self.path);
    }

    fn write(&self) -> anyhow::Result<()> {
        let written = || -> anyhow::Result<()> {
            fs::create_dir_all(self.path.parent().context("it has a directory")?)?;
            let part = self.path.with_extension("part");
            fs::write(&part, serde_json::to_string_pretty(&self.decided)?)?;
            Ok(fs::rename(&part, &self.path)?)
        };
        written().with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_on_where_it_was_and_another_one_begins() {
        let results = tempfile::tempdir().unwrap();
        let mut journal = SearchJournal::open(results.path(), "this");
        assert_eq!((journal.pairs(), journal.of("a")), (&[][..], None));
        journal.decide_ends(&[-0.5, -0.25]).unwrap();
        journal.decide("a", Like::Last).unwrap();
        let again = SearchJournal::open(results.path(), "this");
        assert_eq!((again.pairs(), again.of("a")), (&[-0.5, -0.25][..], Some(Like::Last)));
        assert_eq!(SearchJournal::open(results.path(), "that").of("a"), None);
        again.end();
        assert_eq!(SearchJournal::open(results.path(), "this").of("a"), None);
    }
}

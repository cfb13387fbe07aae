//! What a search has decided, in a file: it goes on there after Ctrl-C.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use lab_stats::Like;
use lab_system::write_whole;
use serde::{Deserialize, Serialize};

/// Which state is like which end, and the pairs that the ends were measured in.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Decided {
    /// Everything that this depends on, as a hash: it may have secrets.
    key: String,
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
    /// Opens the journal of the search that `key` describes. It is empty if the search is new.
    pub fn open(results: &Path, key: &str) -> Self {
        let hash = crc32fast::hash(key.as_bytes());
        let path = results.join("bisect").join(format!("{hash:08x}.json"));
        // Another search may have the same name, but not also the same length and the same hash from behind.
        let reversed: Vec<u8> = key.bytes().rev().collect();
        let key = format!("{hash:08x} {:08x} {}", crc32fast::hash(&reversed), key.len());
        let text = fs::read_to_string(&path).unwrap_or_default();
        let kept: Decided = serde_json::from_str(&text).unwrap_or_default();
        let decided = if kept.key == key { kept } else { Decided { key, ..Decided::default() } };
        Self { path, decided }
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
        let dir = self.path.parent().context("a file has a directory")?;
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        write_whole(&self.path, &serde_json::to_string_pretty(&self.decided)?)
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
        // One of another search that has the name of this one's file.
        let other = SearchJournal::open(results.path(), "other");
        fs::copy(&again.path, &other.path).unwrap();
        assert_eq!(SearchJournal::open(results.path(), "other").of("a"), None);
        again.end();
        assert_eq!(SearchJournal::open(results.path(), "this").of("a"), None);
    }
}

//! The counts of a case's `counts.toml`.

use std::{collections::BTreeMap, path::Path, str::FromStr};

use anyhow::Context as _;
use serde::Deserialize;

/// Counts by variant and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference(pub BTreeMap<String, BTreeMap<String, u64>>);

/// A count, or the counts of a companion by name.
#[derive(Deserialize)]
#[serde(untagged)]
enum CountEntry {
    Count(u64),
    Companion(BTreeMap<String, u64>),
}

impl Reference {
    /// Reads the file; a case without one has an empty reference.
    ///
    /// # Errors
    ///
    /// If the file exists and cannot be read or parsed.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        text.parse::<Self>().with_context(|| path.display().to_string())
    }

    /// The counts of one variant by name; empty if the reference has none.
    pub fn of(&self, variant: &str) -> BTreeMap<String, u64> {
        self.0.get(variant).cloned().unwrap_or_default()
    }
}

impl FromStr for Reference {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let variants: BTreeMap<String, BTreeMap<String, CountEntry>> = toml::from_str(text)?;
        let flat = |(name, entry): (String, CountEntry)| match entry {
            CountEntry::Count(count) => vec![(name, count)],
            CountEntry::Companion(counts) => {
                counts.into_iter().map(|(count, n)| (format!("{name}.{count}"), n)).collect()
            }
        };
        let variants = variants.into_iter();
        Ok(Self(
            variants.map(|(v, counts)| (v, counts.into_iter().flat_map(flat).collect())).collect(),
        ))
    }
}

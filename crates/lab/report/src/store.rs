//! Writing and reading records.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use jiff::{SignedDuration, Timestamp, civil::DateTime};
use lab_system::{ensure_writable, read_file, write_new};
use serde::{Deserialize, Serialize};

use crate::{Record, VERSION};

/// Such as `20261121T151556791Z.json`.
const NAME: &str = "%Y%m%dT%H%M%S%3fZ.json";

/// A directory of records. The name of each file is the time of its creation.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    pub fn new(results: &Path) -> Self {
        Self { dir: results.join("runs") }
    }

    /// Checks before a measurement that its record can be kept.
    ///
    /// # Errors
    ///
    /// If no file can be written in the directory of the store.
    pub fn ensure_writable(&self) -> anyhow::Result<()> {
        let dir = self.dir.display();
        ensure_writable(&self.dir.join("any.json"))
            .with_context(|| format!("results cannot be kept in {dir}: start `lab` elsewhere"))
    }

    /// Writes a record to a new file; returns its path. If another run was kept in the same millisecond, it
    /// gets the next free one.
    ///
    /// # Errors
    ///
    /// If the record cannot be written.
    pub fn keep(&self, created: Timestamp, record: &impl Serialize) -> anyhow::Result<PathBuf> {
        let json = serde_json::to_string(record).context("the record cannot be written")?;
        let mut at = created;
        loop {
            let path = self.dir.join(at.strftime(NAME).to_string());
            match write_new(&path, &json) {
                Err(_) if path.exists() => at += SignedDuration::from_millis(1),
                kept => return kept.map(|()| path),
            }
        }
    }

    /// The paths of all records, the oldest first.
    ///
    /// # Errors
    ///
    /// If the directory of the store exists and cannot be read.
    pub fn paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        if !self.dir.is_dir() {
            return Ok(Vec::new());
        }
        let entries = self.dir.read_dir();
        let entries = entries.with_context(|| format!("cannot read {}", self.dir.display()))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if is_named_by_time(&path) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Finds a record by a path, the start of its name, or `latest`.
    ///
    /// # Errors
    ///
    /// If no record or more than one has a name with this start, or if there are no records yet.
    pub fn find(&self, name: &str) -> anyhow::Result<PathBuf> {
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        let paths = self.paths()?;
        if name == "latest" {
            return paths
                .last()
                .cloned()
                .context("there are no runs yet; `lab compare` and `lab bench` make them");
        }
        let starts = |path: &&PathBuf| {
            path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
        };
        let found: Vec<_> = paths.iter().filter(starts).collect();
        match found.as_slice() {
            [path] => Ok((*path).clone()),
            [] => bail!("no run is named `{name}`; the runs are in {}", self.dir.display()),
            several => {
                bail!("`{name}` is the start of {} runs; give more of the name", several.len())
            }
        }
    }
}

/// Whether a file is named as [`Store::keep`] names them. Any other name would sort before or after all
/// times, and might become the `latest`.
fn is_named_by_time(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    DateTime::strptime(NAME, &*name).is_ok_and(|time| time.strftime(NAME).to_string() == name)
}

/// Reads a record of this [`VERSION`].
///
/// # Errors
///
/// If the file cannot be read, is damaged, or has another version.
pub fn read(path: &Path) -> anyhow::Result<Record> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let text = read_file(path)?;
    let versioned: Versioned = serde_json::from_str(&text).with_context(|| {
        format!("{} is damaged or no record of `lab`; it was left as it is", path.display())
    })?;
    ensure!(
        versioned.version == VERSION,
        "{} has version {} and this `lab` reads version {VERSION}: use the `lab` that made it",
        path.display(),
        versioned.version
    );
    let mut record: Record = serde_json::from_str(&text)
        .with_context(|| format!("{} is damaged; it was left as it is", path.display()))?;
    for case in &mut record.cases {
        let [baseline, candidate] = case.names();
        ensure!(
            case.sides().is_some(),
            "{} is damaged: `{}` compares `{baseline}` with `{candidate}`, and lacks one; it was left as it is",
            path.display(),
            case.case
        );
        // Records from before November 28, 2026 have no noise.
        case.control.noise = case.noises();
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_lab_gives_are_records() {
        let results = tempfile::tempdir().unwrap();
        let store = Store::new(results.path());
        let record = Record::new(false, lab_system::Build::of(results.path(), "release"));
        let kept = store.keep(record.created, &record).unwrap();
        for other in ["zzz.json", "20991121T151556791Z.json.orig", "99991121T15155679Z.json"] {
            std::fs::copy(&kept, kept.with_file_name(other)).unwrap();
        }
        assert_eq!(store.paths().unwrap(), std::slice::from_ref(&kept));
        assert_eq!(store.find("latest").unwrap(), kept);
        let second = store.keep(record.created, &record).unwrap();
        assert_eq!(store.paths().unwrap(), [kept, second], "none is lost");
    }

    #[test]
    fn a_comparison_without_one_of_its_sides_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        let mut record = crate::examples::recorded();
        let read = |record: &Record| {
            std::fs::write(&path, serde_json::to_string(record).unwrap()).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read(&record).unwrap().cases[0].names(), ["slow", "fixed"]);
        record.cases[0].candidate = "other".to_owned();
        let error = read(&record).unwrap_err();
        assert!(error.contains("`double-parse` compares `slow` with `other`"), "{error}");
    }
}

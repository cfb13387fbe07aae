//! Criterion's figures, as a record keeps them: `benches.json`.

use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::problem::unknown;
use crate::display;

/// All benches of a record.
#[derive(Clone, Debug, Deserialize)]
pub struct Benches {
    /// The command that made them.
    pub made: String,
    /// In the order in which they were made.
    pub benches: Vec<Bench>,
}

/// One of Criterion's estimates.
#[derive(Clone, Debug, Deserialize)]
pub struct Bench {
    /// The group that it is compared in.
    pub group: String,
    /// What was measured.
    pub name: String,
    /// Of a sweep, the point that it was measured at.
    pub parameter: Option<String>,
    /// The estimate in nanoseconds.
    pub ns: f64,
    /// The lower end of its interval.
    pub low_ns: f64,
    /// The upper end of its interval.
    pub high_ns: f64,
}

impl Bench {
    /// Its name in its group: `fixed`, or `fixed/50` for a point of a sweep.
    pub fn id(&self) -> String {
        match &self.parameter {
            Some(parameter) => format!("{}/{parameter}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Benches {
    /// Reads the file, which has to exist.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        ensure!(path.is_file(), "{} is missing: `just record` makes it", path.display());
        let text =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// The benches of a group, which are some.
    pub fn group(&self, name: &str) -> anyhow::Result<Vec<&Bench>> {
        let group: Vec<_> = self.benches.iter().filter(|bench| bench.group == name).collect();
        if !group.is_empty() {
            return Ok(group);
        }
        let mut groups: Vec<_> = self.benches.iter().map(|bench| bench.group.as_str()).collect();
        groups.dedup();
        Err(unknown("group of benches", name, groups))
    }

    /// A bench by its group and its name there.
    pub fn bench(&self, group: &str, id: &str) -> anyhow::Result<&Bench> {
        let group = self.group(group)?;
        let ids: Vec<_> = group.iter().map(|bench| bench.id()).collect();
        let found = group.iter().zip(&ids).find(|(_, known)| *known == id).map(|(bench, _)| *bench);
        found.ok_or_else(|| unknown("bench of the group", id, ids.iter().map(String::as_str)))
    }
}

/// A time in the unit that suits it, from nanoseconds on: `0.31 ns`, `779 ns`, `1.91 µs`.
pub fn time_ns(ns: f64) -> String {
    match ns {
        ns if ns < 999.5 => format!("{} ns", display::significant(ns)),
        ns => display::time_ms(ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benches() -> Benches {
        let bench = |name: &str, parameter: Option<&str>| {
            serde_json::json!({
                "group": "sweep", "name": name, "parameter": parameter,
                "ns": 2.0, "low_ns": 1.0, "high_ns": 3.0
            })
        };
        let benches = [bench("slow", Some("50")), bench("fixed", None)];
        serde_json::from_value(serde_json::json!({ "made": "m", "benches": benches })).unwrap()
    }

    #[test]
    fn a_point_of_a_sweep_is_named_with_its_parameter() {
        assert_eq!(benches().bench("sweep", "slow/50").unwrap().ns, 2.0);
        let error = benches().bench("sweep", "slow").unwrap_err().to_string();
        assert!(error.contains("did you mean `slow/50`?"), "{error}");
        let error = benches().group("swep").unwrap_err().to_string();
        assert!(error.contains("did you mean `sweep`?"), "{error}");
    }

    #[test]
    fn short_times_are_told_in_nanoseconds() {
        assert_eq!(time_ns(0.312), "0.31 ns");
        assert_eq!(time_ns(779.2), "779 ns");
        assert_eq!(time_ns(999.9), "1.00 µs");
        assert_eq!(time_ns(1.5e9), "1.50 s");
    }
}

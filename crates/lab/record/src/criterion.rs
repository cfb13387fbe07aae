//! Criterion's estimates. Their form is Criterion's own affair and may change with any release,
//! so this is the one place that reads them, and the workspace pins the version.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// How long one iteration of a bench takes: the median of its samples, with the interval that holds
/// the true median with a confidence of 95 %.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Bench {
    /// The group of benches that are to be compared with each other.
    pub group: String,
    /// What was measured; in a sweep, the variant.
    pub name: String,
    /// In a sweep, what was varied: a number. Its unit is known to who wrote the bench.
    pub parameter: Option<String>,
    /// Nanoseconds.
    pub ns: f64,
    /// The lower end of the interval, in nanoseconds.
    pub low_ns: f64,
    /// The upper end of the interval, in nanoseconds.
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

/// A bench, and when and where Criterion wrote it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was found.
    pub bench: Bench,
    /// When.
    pub at: SystemTime,
    /// Where Criterion keeps it.
    pub dir: PathBuf,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    /// Nanoseconds.
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Deserialize)]
struct Id {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
}

/// The directory of what a bench found last; beside it are those of earlier runs.
const LAST: &str = "new";

/// The factor between the median times of two variants, if both were measured.
pub fn speedup(criterion: &Path, case: &str, baseline: &str, candidate: &str) -> Option<f64> {
    Some(median_ns(criterion, case, baseline)? / median_ns(criterion, case, candidate)?)
}

fn median_ns(criterion: &Path, case: &str, variant: &str) -> Option<f64> {
    let last = criterion.join(case).join(variant).join(LAST);
    let estimates: Estimates = read(&last.join("estimates.json")).ok()?;
    Some(estimates.median.point_estimate)
}

/// The last figures of all groups whose name `is_wanted`, in the order in which they were measured.
///
/// # Errors
///
/// If a file cannot be read, or is not what this version of Criterion writes.
pub fn benches(
    criterion: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<Measured>> {
    let mut found = Vec::new();
    collect(criterion, &mut found)?;
    found.retain(|measured| is_wanted(&measured.bench.group));
    found.sort_by_key(|measured| measured.at);
    Ok(found)
}

fn collect(dir: &Path, found: &mut Vec<Measured>) -> anyhow::Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    let last = dir.join(LAST);
    let file = last.join("estimates.json");
    if file.is_file() {
        let Id { group_id, function_id, value_str } = read(&last.join("benchmark.json"))?;
        let Estimates { median } = read(&file)?;
        let bench = Bench {
            group: group_id,
            name: function_id.unwrap_or_default(),
            parameter: value_str,
            ns: median.point_estimate,
            low_ns: median.confidence_interval.lower_bound,
            high_ns: median.confidence_interval.upper_bound,
        };
        found.push(Measured { bench, at: file.metadata()?.modified()?, dir: dir.to_owned() });
    }
    let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        collect(&entry?.path(), found)?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| {
        format!("{} is not what the pinned version of Criterion writes", file.display())
    })
}

/// The version of Criterion by the workspace's lock file.
pub fn version(root: &Path) -> Option<String> {
    let lock: toml::Table = fs::read_to_string(root.join("Cargo.lock")).ok()?.parse().ok()?;
    let packages = lock.get("package")?.as_array()?;
    let is_criterion = |package: &&toml::Value| {
        package.get("name").and_then(toml::Value::as_str) == Some("criterion")
    };
    let version = packages.iter().find(is_criterion)?.get("version")?;
    Some(version.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_of_this_workspace_names_the_version_that_is_pinned() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let pinned = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let version = version(&root).unwrap();
        assert!(pinned.contains(&format!("criterion = {{ version = \"={version}\"")), "{version}");
    }
}

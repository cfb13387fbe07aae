//! Criterion's estimates. Criterion may change their form with any release, so only this module reads
//! them, and the workspace pins the version.

use std::{fs, path::Path, time::SystemTime};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long one iteration of a bench takes: the median of its samples with its 95 % interval.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Bench {
    /// Benches of one group are compared with each other.
    pub group: String,
    /// In a sweep, the variant.
    pub name: String,
    /// In a sweep, the value of the parameter. The bench determines its unit.
    pub parameter: Option<String>,
    pub ns: f64,
    pub low_ns: f64,
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

/// The directory of a bench's newest figures, next to those of earlier runs.
const LAST: &str = "new";

/// The factor between the median times of two variants, if both were measured.
pub fn speedup(criterion: &Path, case: &str, baseline: &str, candidate: &str) -> Option<f64> {
    Some(median_ns(criterion, case, baseline)? / median_ns(criterion, case, candidate)?)
}

fn median_ns(criterion: &Path, case: &str, variant: &str) -> Option<f64> {
    let last = criterion.join(case).join(variant).join(LAST);
    read(&last.join("estimates.json")).ok()?["median"]["point_estimate"].as_f64()
}

/// The newest figures of all groups whose name `is_wanted`, in the order of measurement.
///
/// # Errors
///
/// If a file cannot be read, or is not what this version of Criterion writes.
pub fn benches(criterion: &Path, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<Bench>> {
    let mut found = Vec::new();
    collect(criterion, &mut found)?;
    found.retain(|(_, bench)| is_wanted(&bench.group));
    found.sort_by_key(|(measured, _)| *measured);
    Ok(found.into_iter().map(|(_, bench)| bench).collect())
}

fn collect(dir: &Path, found: &mut Vec<(SystemTime, Bench)>) -> anyhow::Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    let last = dir.join(LAST);
    let file = last.join("estimates.json");
    if file.is_file() {
        let (id, estimates) = (read(&last.join("benchmark.json"))?, read(&file)?);
        let text = |field: &str| id[field].as_str().map(str::to_owned);
        let ns = |field: &str| {
            let ns = estimates["median"].pointer(field).and_then(Value::as_f64);
            ns.with_context(|| foreign(&file))
        };
        let bench = Bench {
            group: text("group_id").with_context(|| foreign(&last))?,
            name: text("function_id").unwrap_or_default(),
            parameter: text("value_str"),
            ns: ns("/point_estimate")?,
            low_ns: ns("/confidence_interval/lower_bound")?,
            high_ns: ns("/confidence_interval/upper_bound")?,
        };
        found.push((file.metadata()?.modified()?, bench));
    }
    let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        collect(&entry?.path(), found)?;
    }
    Ok(())
}

fn read(file: &Path) -> anyhow::Result<Value> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| foreign(file))
}

fn foreign(file: &Path) -> String {
    format!("{} is not what the pinned version of Criterion writes", file.display())
}

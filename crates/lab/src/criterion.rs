//! Criterion's estimates. Their form is Criterion's own affair and may change with any release,
//! so this is the one place that reads them, and the workspace pins the version.

use std::path::Path;

use serde::Deserialize;

use crate::case::{BASELINE, CANDIDATE};

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    /// Nanoseconds.
    point_estimate: f64,
}

/// The factor between the median times of slow and fixed, if both were measured.
pub fn speedup(criterion: &Path, case: &str) -> Option<f64> {
    Some(median_ns(criterion, case, BASELINE)? / median_ns(criterion, case, CANDIDATE)?)
}

fn median_ns(criterion: &Path, case: &str, variant: &str) -> Option<f64> {
    let file = criterion.join(case).join(variant).join("new/estimates.json");
    let estimates: Estimates = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Some(estimates.median.point_estimate)
}

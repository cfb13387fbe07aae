//! The settings of a case that differ when it is counted instead of timed.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::TimedRequest;

/// The `[count]` of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Visits before counting starts, so that everything that is made once exists.
    pub warm_up: u32,
    /// Visits that count.
    pub visits: u32,
    /// A shorter visit that replaces the case's own: the shorter a visit, the less background work
    /// falls into it.
    #[serde(rename = "request")]
    pub requests: Vec<TimedRequest>,
    /// Arguments that replace the case's own.
    pub args: Option<Vec<String>>,
    /// Added to the case's environment.
    pub env: BTreeMap<String, String>,
    /// More arguments for companions, by name.
    pub companion_args: BTreeMap<String, Vec<String>>,
    /// By how many percent a count may move, by its name; 1 if it is not listed.
    pub tolerance_percent: BTreeMap<String, f64>,
}

impl Default for Overrides {
    fn default() -> Self {
        Self {
            warm_up: 5,
            visits: 20,
            requests: Vec::new(),
            args: None,
            env: BTreeMap::new(),
            companion_args: BTreeMap::new(),
            tolerance_percent: BTreeMap::new(),
        }
    }
}

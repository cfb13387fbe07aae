//! What a case says about being counted: how long, and what is different from being timed.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Request;

/// The `[count]` of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Pages that are loaded before anything counts, so that pools, buffers and whatever else is
    /// made once are settled.
    pub warm_up: u32,
    /// Pages that count.
    pub pages: u32,
    /// A page, in place of the case's own, where that takes long: the shorter a page, the less can
    /// happen in it that is not its own doing.
    #[serde(rename = "request")]
    pub requests: Vec<Request>,
    /// Arguments for every variant, in place of the case's own.
    pub args: Option<Vec<String>>,
    /// Environment of every variant, over the case's own.
    pub env: BTreeMap<String, String>,
    /// More arguments for the companions, by their names.
    pub companion_args: BTreeMap<String, Vec<String>>,
    /// By how many per cent a count may move before it is an error, by its name; 1 where it is not
    /// named.
    pub tolerance_percent: BTreeMap<String, f64>,
}

impl Default for Overrides {
    fn default() -> Self {
        Self {
            warm_up: 5,
            pages: 20,
            requests: Vec::new(),
            args: None,
            env: BTreeMap::new(),
            companion_args: BTreeMap::new(),
            tolerance_percent: BTreeMap::new(),
        }
    }
}

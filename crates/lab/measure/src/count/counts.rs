//! The counts of one variant, and how they look.

use std::collections::BTreeMap;

use serde::Serialize;

/// What one visit costs a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counts {
    pub visits: u32,
    pub requests: usize,
    /// Counts that repeat exactly enough for a reference: the median visit's `allocations` and the
    /// `bytes` they request, growing buffers included, and `COMPANION.NAME` of each companion.
    pub exact: BTreeMap<String, u64>,
    /// The mean of system calls, if the kernel's counter can be read. They depend on the kernel and
    /// on which threads are awake, so they are not exact.
    pub system_calls: Option<f64>,
}

/// A row per count and a column per variant.
pub fn table(counted: &[(&str, &Counts)]) -> String {
    let named = counted.iter().map(|(variant, counts)| {
        let exact = counts.exact.iter().map(|(name, count)| (name.clone(), *count as f64));
        let calls = counts.system_calls.map(|calls| ("system_calls".to_owned(), calls));
        ((*variant).to_owned(), exact.chain(calls).collect())
    });
    lab_display::counts("a visit of", &named.collect::<Vec<_>>())
}

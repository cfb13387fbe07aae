//! The counts of one variant, and how they look.

use std::collections::BTreeMap;

use lab_display::count_table;
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
        (*variant, exact.chain(calls).collect())
    });
    let named: Vec<(&str, BTreeMap<_, _>)> = named.collect();
    let named: Vec<_> = named.iter().map(|(variant, counts)| (*variant, counts)).collect();
    count_table("a visit of", &named).text()
}

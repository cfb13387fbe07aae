//! The counts of one variant.

use std::collections::BTreeMap;

use serde::Serialize;

/// What one visit costs a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// Visits that were counted.
    pub visits: u32,
    /// Requests of a visit.
    pub requests: usize,
    /// Counts that repeat exactly enough for a reference: the median visit's `allocations` and the
    /// `bytes` they request, growing buffers included, and `COMPANION.NAME` of each companion.
    pub exact: BTreeMap<String, u64>,
    /// The mean of system calls, if the kernel's counter can be read. They depend on the kernel and
    /// on which threads are awake, so they are not exact.
    pub system_calls: Option<f64>,
}

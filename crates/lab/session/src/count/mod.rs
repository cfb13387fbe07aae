//! Exact counts: what one visit costs a variant, in numbers that are the same on every machine.
//!
//! A clock says how fast a server is, here and now. A count says how much it does, so it can be a
//! test: allocations of the running server, its system calls, and whatever its companions count.
//!
//! The servers are built to count; see [`lab_servers::instrumented`].

mod gauge;
mod idle;
mod measure;
pub mod reference;
mod system_calls;

use std::collections::BTreeMap;

use serde::Serialize;

pub use measure::{measure, visit_in_steps};
pub use system_calls::{Counter, LONGEST, SYSTEM_CALLS, system_calls};

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

impl Counts {
    /// All counts by name.
    pub fn named(&self) -> BTreeMap<String, f64> {
        let exact = self.exact.iter().map(|(name, count)| (name.clone(), *count as f64));
        exact.chain(self.system_calls.map(|calls| ("system_calls".to_owned(), calls))).collect()
    }
}

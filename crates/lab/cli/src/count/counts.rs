//! The counts of one variant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Numbers by name.
pub type Names = BTreeMap<String, u64>;

/// What one page costs a variant: the median of the pages that were counted.
///
/// A page is what a case asks in one go: one request, or as many as a browser sends for it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Counts {
    /// Pages that were counted.
    pub pages: u32,
    /// Requests of a page.
    pub requests: usize,
    /// Allocations of a page, those that grow a buffer included.
    pub allocations: u64,
    /// Bytes that these asked for; a buffer that grows asks for what it grows by.
    pub bytes: u64,
    /// System calls of a page, where the kernel's counter can be read: the mean.
    pub system_calls: Option<f64>,
    /// What each companion counted for a page, by its name.
    pub companions: BTreeMap<String, Names>,
}

impl Counts {
    /// Every count that repeats exactly enough to be held against a reference, with its name.
    ///
    /// System calls are not among them: they depend on the kernel, and on which of the server's
    /// threads happened to be awake.
    pub fn exact(&self) -> Vec<(String, u64)> {
        let own = [("allocations", self.allocations), ("bytes", self.bytes)];
        let own = own.map(|(name, count)| (name.to_owned(), count));
        let theirs = self.companions.iter().flat_map(|(companion, counts)| {
            counts.iter().map(move |(name, count)| (format!("{companion}.{name}"), *count))
        });
        own.into_iter().chain(theirs).collect()
    }
}

//! The counts of one variant, and how they look.

use std::collections::BTreeMap;

use lab_display::thousands;
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

/// Counts that differ between runs of the same variant: `bytes 1,000–1,010 (1.00 %)`.
pub fn spread(runs: &[Counts]) -> Vec<String> {
    let mut columns = BTreeMap::<&String, Vec<u64>>::new();
    for (name, count) in runs.iter().flat_map(|run| &run.exact) {
        columns.entry(name).or_default().push(*count);
    }
    let differs = columns.into_iter().filter_map(|(name, counts)| {
        let (least, most) = (*counts.iter().min()? as f64, *counts.iter().max()? as f64);
        let share = 100.0 * (most - least) / least.max(1.0);
        let range = format!("{name} {}–{} ({share:.2} %)", thousands(least), thousands(most));
        (most > least).then_some(range)
    });
    differs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_that_differ_have_a_spread() {
        let run = |bytes| Counts {
            visits: 1,
            requests: 1,
            exact: [("allocations".to_owned(), 7), ("bytes".to_owned(), bytes)].into(),
            system_calls: None,
        };
        assert!(spread(&[run(1000), run(1000)]).is_empty());
        assert_eq!(spread(&[run(1000), run(1010)]), ["bytes 1,000–1,010 (1.00 %)"]);
    }
}

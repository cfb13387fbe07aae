//! When slow requests waited, and what lies between those times.

use std::{collections::BTreeMap, ops::Range};

/// Slow requests that wait within this time of each other, in microseconds, met the same thing.
pub const TOGETHER_US: u64 = 20_000;
/// Times without a slow request are counted in pieces of this length, in microseconds.
const PIECE_US: u64 = 100_000;

/// Times in microseconds.
pub struct Windows {
    /// In which a slow request waited: they don't overlap, and are in order.
    slow: Vec<Range<u64>>,
    /// In which one waited that is half as slow, or more: neither slow nor usual.
    doubtful: Vec<Range<u64>>,
    /// From the first arrival to the last.
    all: Range<u64>,
}

/// Looks by their numbers.
pub struct LookGroups {
    /// For each time at which slow requests waited, the looks while they did.
    pub times: Vec<Vec<usize>>,
    /// The looks while none did, for each piece of the run.
    pub others: Vec<Vec<usize>>,
}

impl Windows {
    /// Of requests that came at their first time and were answered at their second one, in order.
    pub fn of(waits: &[(u64, u64)], from_us: u64) -> Self {
        let longer = |least: u64| {
            let long = waits.iter().filter(|(due, end)| end - due >= least);
            merged(long.map(|(due, end)| *due..*end))
        };
        let [first, last] = [waits.first(), waits.last()].map(|one| one.map_or(0, |(due, _)| *due));
        Self { slow: longer(from_us), doubtful: longer(from_us / 2), all: first..last }
    }

    pub fn groups(&self, at_us: &[u64]) -> LookGroups {
        let mut times = vec![0; self.slow.len()];
        for (nth, pair) in self.slow.windows(2).enumerate() {
            let is_together = pair[1].start - pair[0].end <= TOGETHER_US;
            times[nth + 1] = times[nth] + usize::from(!is_together);
        }
        let mut slow: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut others: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (look, at) in at_us.iter().enumerate() {
            if let Some(nth) = within(&self.slow, *at) {
                slow.entry(times[nth]).or_default().push(look);
            } else if within(&self.doubtful, *at).is_none() && self.all.contains(at) {
                others.entry(at / PIECE_US).or_default().push(look);
            }
        }
        LookGroups { times: slow.into_values().collect(), others: others.into_values().collect() }
    }
}

fn merged(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn within(ranges: &[Range<u64>], at: u64) -> Option<usize> {
    let nth = ranges.partition_point(|range| range.end <= at);
    ranges.get(nth)?.contains(&at).then_some(nth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_counted_by_the_times_in_which_slow_requests_waited() {
        // Two that overlap, one soon after them, one much later, and one that is half as slow.
        let waits = [(0, 9), (10, 60), (40, 90), (100, 150), (300, 330), (500, 550), (650, 660)];
        let waits = waits.map(|(due, end)| (1_000 * due, 1_000 * end));
        let windows = Windows::of(&waits, 50_000);
        let at_us: Vec<_> =
            [5, 20, 70, 95, 120, 160, 199, 310, 400, 510, 700].map(|ms| 1_000 * ms).into();
        let LookGroups { times, others } = windows.groups(&at_us);
        assert_eq!(times, [vec![1, 2, 4], vec![9]]);
        // Between two of the same time nothing is said, nor after the last arrival.
        assert_eq!(others, [vec![0, 3], vec![5, 6], vec![8]]);
    }
}

//! Memory that still grows when a server has worked for a while.
//!
//! Every server's memory grows at first: its threads, buffers and caches come into being. So the slope is one of the
//! last three fifths of a run. Each run starts a fresh server, and the interval is one over runs: sizes within a run
//! depend on each other, so an interval from them would be too narrow.

use lab_protocol::Outcome;
use lab_stats::{Speedup, median_of};
use serde::{Deserialize, Serialize};

/// Memory that grows by less than this factor in three fifths of a run is no finding.
const LEAST: f64 = 1.01;

/// The slope of a server's memory over the last three fifths of its runs, in MiB per second.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Growth {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// The probability that `low..=high` covers the true slope.
    pub confidence: f64,
    /// Whether the memory grows, and by enough for a note.
    pub is_found: bool,
}

/// `None` if a run does not know its memory.
pub fn growth<'a>(runs: impl IntoIterator<Item = &'a Outcome>) -> Option<Growth> {
    let late = runs.into_iter().map(|run| match run.server_rss_mib[..] {
        [_, _, before, .., after] if before > 0.0 => Some((before, after, run.measured)),
        _ => None,
    });
    let late = late.collect::<Option<Vec<_>>>()?;
    let before = median_of(late.iter().map(|(before, _, _)| *before))?;
    let seconds = median_of(late.iter().map(|(_, _, measured)| 0.6 * measured.as_secs_f64()))?;
    let factor = Speedup::of_pairs(late.iter().map(|(before, after, _)| after / before))?;
    let slope = |factor: f64| (factor - 1.0) * before / seconds;
    Some(Growth {
        estimate: slope(factor.estimate),
        low: slope(factor.low),
        high: slope(factor.high),
        confidence: factor.confidence,
        is_found: factor.is_confident() && factor.low >= LEAST,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn found(sizes: &[[f64; 6]]) -> Option<Growth> {
        let run = |sizes: &[f64; 6]| Outcome {
            server_rss_mib: sizes.to_vec(),
            measured: Duration::from_secs(10),
            ..Outcome::default()
        };
        let runs: Vec<_> = sizes.iter().map(run).collect();
        growth(&runs)
    }

    #[test]
    fn a_leak_grows_to_the_end_and_a_cache_that_is_full_does_not() {
        let leak = found(&[[10.0, 12.0, 14.0, 16.0, 18.0, 20.0]; 6]).unwrap();
        assert!(leak.is_found && (leak.estimate - 1.0).abs() < 1e-9, "{leak:?}");
        let cache = found(&[[10.0, 50.0, 90.0, 90.0, 90.0, 90.0]; 6]).unwrap();
        assert!(!cache.is_found && cache.high == 0.0, "{cache:?}");
        // What an allocator keeps grows in steps, in some runs, and can shrink.
        let steps =
            [[20.0, 90.0, 120.0, 150.0, 150.0, 150.0], [20.0, 90.0, 150.0, 150.0, 90.0, 150.0]];
        let kept = found(&[steps[0], steps[1], steps[1], steps[0], steps[1], steps[1]]).unwrap();
        assert!(!kept.is_found && kept.low == 0.0 && kept.high > 0.0, "{kept:?}");
        assert!(!found(&[[10.0, 12.0, 14.0, 16.0, 18.0, 20.0]; 5]).unwrap().is_found, "few runs");
        assert_eq!(found(&[[10.0; 6], [0.0; 6]]), None);
        assert_eq!(growth(&[Outcome::default()]), None);
    }
}

//! What the looks at the memory show: growth with the work, or an end of it.

use lab_stats::{BLOCKS, Rise, Slope, Trend};
use serde::Serialize;

use super::super::{Measured, WATCHED};

/// Growth in the second half of the work counts only above this, and above this share of the memory.
const MATTERS_MIB: f64 = 1.0;
const MATTERS: f64 = 0.005;
/// What comes before that half is called a store that filled from here on.
const FILLED_MIB: f64 = 4.0;
const FILLED: f64 = 0.1;
/// If the server had mapped more than this part of the growth before, it grew into a heap that its runtime manages.
const MAPPED: f64 = 0.5;
const BYTES: f64 = 1_048_576.0;

/// The memory at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryLook {
    /// Visits that the server had answered since the first look.
    pub visits: f64,
    /// The memory in MiB, without the pages of files.
    pub used_mib: f64,
    pub mapped_mib: f64,
}

/// All looks of a triage, and what is needed to read them.
#[derive(Clone, Debug, Default)]
pub struct MemoryHistory {
    pub looks: Vec<MemoryLook>,
    /// What stayed without load.
    pub rest_mib: Option<f64>,
    /// Of the load that the memory alone needed; absent without one.
    pub visits_per_s: Option<f64>,
    /// Whether the server maps its heap before it uses it.
    pub maps_early: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum MemoryVerdict {
    /// With each request, as fast at the end as before.
    Grows,
    /// It grew, and that came to an end: a cache, a pool, an allocator that keeps memory.
    FillsUp,
    Flat,
    /// A cache that fills and a leak look alike; so much more of the same load tells them apart.
    Unclear {
        seconds: f64,
    },
    /// A collector lets its heap grow before it frees anything.
    Collected,
}

/// The memory over the second half of the work, with 95 % intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryGrowth {
    pub verdict: MemoryVerdict,
    pub bytes_per_request: Slope,
    pub mib_per_minute: Slope,
    /// Before all load.
    pub before_mib: f64,
    pub after_mib: f64,
}

impl MemoryHistory {
    /// What has to be seen for longer.
    pub fn may_go_on(&self) -> bool {
        let verdict = self.trend().map(|(trend, _)| self.verdict(trend.rise, 0.0));
        matches!(verdict, Some(MemoryVerdict::Grows | MemoryVerdict::Unclear { .. }))
    }

    /// How much longer, if nobody can tell yet.
    pub fn lacking_s(&self) -> Option<f64> {
        let (trend, block) = self.trend()?;
        match self.verdict(trend.rise, block / self.visits_per_s?) {
            MemoryVerdict::Unclear { seconds } => Some(seconds),
            _ => None,
        }
    }

    /// The trend of the second half of the visits, after all users have connected; and the visits of a block.
    pub(super) fn trend(&self) -> Option<(Trend, f64)> {
        let end = self.looks.last().filter(|look| look.visits > 0.0)?;
        let length = end.visits / 2.0 / BLOCKS as f64;
        let mut level = end.used_mib;
        let of_block = |block: usize| {
            let begin = end.visits / 2.0 + block as f64 * length;
            let is_in = |look: &&MemoryLook| begin <= look.visits && look.visits <= begin + length;
            let sizes = self.looks.iter().filter(is_in).map(|look| look.used_mib);
            // The least is what a collector left. A server that rests has no look for a while.
            level = sizes.reduce(f64::min).unwrap_or(level);
            // What comes back without load is no growth.
            level.min(self.rest_mib.unwrap_or(f64::INFINITY))
        };
        let levels: Vec<_> = (0..BLOCKS).map(of_block).collect();
        Some((Trend::of(&levels, MATTERS_MIB.max(MATTERS * end.used_mib))?, length))
    }

    fn verdict(&self, rise: Rise, block_s: f64) -> MemoryVerdict {
        let [first, .., last] = self.looks[..] else { return MemoryVerdict::Flat };
        let grown = last.used_mib - first.used_mib;
        let is_mapped = last.mapped_mib - first.mapped_mib < MAPPED * grown;
        match rise {
            Rise::Steady | Rise::Unclear { .. } if self.maps_early && is_mapped => {
                MemoryVerdict::Collected
            }
            Rise::Steady => MemoryVerdict::Grows,
            Rise::Unclear { more } => {
                MemoryVerdict::Unclear { seconds: more * BLOCKS as f64 * block_s }
            }
            Rise::Ended => MemoryVerdict::FillsUp,
            Rise::Flat if grown >= FILLED_MIB.max(FILLED * last.used_mib) => MemoryVerdict::FillsUp,
            Rise::Flat => MemoryVerdict::Flat,
        }
    }
}

impl Measured {
    /// `None` if the system does not show the server's memory or its CPU time, or if nothing was answered.
    pub fn memory_growth(&self) -> Option<MemoryGrowth> {
        let [first, .., last] = self.memory.looks[..] else { return None };
        let (trend, block) = self.memory.trend()?;
        let of_level = || Some(self.at(WATCHED)?.throughput());
        let of_levels = || self.levels.iter().rev().map(|level| level.outcome.throughput());
        let visits_per_s =
            self.memory.visits_per_s.or_else(of_level).into_iter().chain(of_levels());
        let visits_per_s = visits_per_s.into_iter().find(|per_s| *per_s > 0.0)?;
        let per_visit = trend.slope.scaled(1.0 / block);
        Some(MemoryGrowth {
            verdict: self.memory.verdict(trend.rise, block / visits_per_s),
            bytes_per_request: per_visit.scaled(BYTES / self.requests.max(1) as f64),
            mib_per_minute: per_visit.scaled(60.0 * visits_per_s),
            before_mib: first.used_mib,
            after_mib: last.used_mib,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look after each tenth of a visit, of 26 visits in 52 seconds: a block has ten.
    fn history(used_mib: impl Fn(f64) -> f64) -> MemoryHistory {
        let look = |tenth: u32| {
            let visits = f64::from(tenth) / 10.0;
            MemoryLook { visits, used_mib: used_mib(visits), mapped_mib: 0.0 }
        };
        let looks = (0..=260).map(look).collect();
        MemoryHistory { looks, visits_per_s: Some(0.5), ..MemoryHistory::default() }
    }

    fn verdict(history: &MemoryHistory) -> MemoryVerdict {
        let (trend, block) = history.trend().unwrap();
        history.verdict(trend.rise, block / history.visits_per_s.unwrap())
    }

    #[test]
    fn a_leak_grows_and_what_comes_to_an_end_fills_up() {
        // Not even on each look.
        let ragged = |s: f64| 3.0 * (7.0 * s).sin();
        assert_eq!(verdict(&history(|s| 50.0 + 2.0 * s + ragged(s))), MemoryVerdict::Grows);
        assert_eq!(verdict(&history(|s| 50.0 + 8.0 * s.min(6.0))), MemoryVerdict::FillsUp);
        assert_eq!(verdict(&history(|s| 50.0 + 8.0 * s.min(17.0))), MemoryVerdict::FillsUp);
        assert_eq!(verdict(&history(|_| 50.0)), MemoryVerdict::Flat);
        assert_eq!(verdict(&history(|s| 90.0 - s)), MemoryVerdict::Flat);
        let large = history(|s| 4000.0 + s);
        assert_eq!(verdict(&large), MemoryVerdict::Flat, "13 MiB of 4 GiB");
    }

    #[test]
    fn a_collector_s_heap_is_as_large_as_its_smallest_moments() {
        // A collection after each third of a second.
        let heap = |s: f64| 50.0 + 120.0 * (3.0 * s).fract();
        assert_eq!(verdict(&history(heap)), MemoryVerdict::Flat);
        assert_eq!(verdict(&history(|s| heap(s) + 2.0 * s)), MemoryVerdict::Grows);
    }

    #[test]
    fn more_load_is_asked_for_where_a_leak_and_a_cache_look_alike() {
        // Half of the slope is gone within the second half.
        let fills = history(|s| 200.0 * (1.0 - (-s / 8.0).exp()));
        assert_eq!(verdict(&fills), MemoryVerdict::Unclear { seconds: 26.0 });
        assert_eq!((fills.may_go_on(), fills.lacking_s()), (true, Some(26.0)));
        assert!(!history(|_| 50.0).may_go_on());
        // One step says nothing about the next.
        let step = history(|s| if s < 22.0 { 50.0 } else { 58.0 });
        assert!(matches!(verdict(&step), MemoryVerdict::Unclear { seconds } if seconds > 26.0));
    }

    #[test]
    fn what_comes_back_without_load_is_no_growth() {
        let backlog = history(|s| 5.0 * s);
        assert_eq!(verdict(&backlog), MemoryVerdict::Grows);
        assert_ne!(
            verdict(&MemoryHistory { rest_mib: Some(5.0), ..backlog }),
            MemoryVerdict::Grows
        );
    }

    #[test]
    fn growth_into_a_heap_that_was_mapped_is_the_collector_s() {
        let heap = MemoryHistory { maps_early: true, ..history(|s| 50.0 + 2.0 * s) };
        assert_eq!(verdict(&heap), MemoryVerdict::Collected);
        assert!(!heap.may_go_on());
        let mut more = heap.clone();
        more.looks.iter_mut().for_each(|look| look.mapped_mib = look.used_mib);
        assert_eq!(verdict(&more), MemoryVerdict::Grows);
    }

    #[test]
    fn without_answers_there_is_no_trend() {
        assert_eq!(MemoryHistory::default().trend(), None);
        let idle = MemoryLook { visits: 0.0, used_mib: 5.0, mapped_mib: 5.0 };
        assert_eq!(
            MemoryHistory { looks: vec![idle; 3], ..MemoryHistory::default() }.trend(),
            None
        );
    }
}

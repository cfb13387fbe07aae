//! The search for the highest rate at which something holds, such as "p99 < 50 ms", by runs that hold or don't. It says
//! which rate to try next and takes how the run ended. It starts nothing, so that a simulation can drive the very code
//! that users run.
//!
//! From the first rate on, it doubles or halves until one rate has held and a higher one hasn't, then halves the gap.
//! A single run near the boundary decides like a coin, so the rate that held and the one that didn't are repeated until
//! several runs agree at each. Where runs contradict each other, the ends move apart, and the rates between are in doubt.
//! `simulation/rates.rs` says how often the interval is right.

use std::{collections::BTreeMap, ops::RangeInclusive};

/// Rates that are tried are so many to an octave: neighbours differ by 5.9 %.
const STEPS: i32 = 12;
/// So many runs hold at the lower end of the interval, and so many fail at the upper one. Late requests come in bunches,
/// so a short run at a rate that is a bit too high often has none of them, and rarely one at a rate that is not.
const HELD: usize = 8;
const FAILED: usize = 5;
/// The lowest rate has to fail so often.
const SURE: usize = 2;
/// Between an end and the rates in doubt, a wider gap than this is halved, because one run may have gone wrong.
const GAP: i32 = 2;

/// How a run at a rate ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateEnd {
    Held,
    Failed,
    /// It didn't hold, and the load generator may be why.
    Limited,
}

/// The highest rate at which it holds lies between these, as far as the runs show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateInterval {
    /// All runs at this rate held; `None` if there is no such rate.
    pub low: Option<f64>,
    /// None of the runs at this rate did; `None` if there is no such rate.
    pub high: Option<f64>,
    /// How many runs there were at `low` and at `high`.
    pub runs: [usize; 2],
    /// Whether the load generator may be why it didn't hold at `high`.
    pub is_limited: bool,
}

impl RateInterval {
    /// The middle, as a factor.
    pub fn middle(&self) -> Option<f64> {
        Some((self.low? * self.high?).sqrt())
    }
}

/// How many runs at a rate ended in each way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    held: usize,
    failed: usize,
    limited: usize,
}

impl Tally {
    fn did_not(self) -> usize {
        self.failed + self.limited
    }

    fn is_held(self) -> bool {
        self.held > 0 && self.did_not() == 0
    }

    fn has_failed(self) -> bool {
        self.held == 0 && self.did_not() > 0
    }
}

#[derive(Clone, Debug)]
pub struct RateSearch {
    start: f64,
    /// The lowest and the highest rate, in steps from the start.
    range: RangeInclusive<i32>,
    most_runs: usize,
    runs: usize,
    tallies: BTreeMap<i32, Tally>,
}

impl RateSearch {
    /// A search from this rate on, between a lowest and a highest one.
    pub fn new(start: f64, range: RangeInclusive<f64>, most_runs: usize) -> Self {
        let steps = |rate: f64| f64::from(STEPS) * (rate / start).log2();
        // Rounded, so that the start itself may be an end.
        let [lowest, highest] =
            [range.start(), range.end()].map(|rate| steps(*rate).round() as i32);
        let range = lowest.min(0)..=highest.max(0);
        Self { start, range, most_runs, runs: 0, tallies: BTreeMap::new() }
    }

    /// `None` if the search is over.
    pub fn next_rate(&self) -> Option<f64> {
        (self.runs < self.most_runs).then(|| self.next_step().map(|step| self.rate(step))).flatten()
    }

    /// Adds a run at the rate that was next. One that the generator limited says nothing if a higher rate has held: the
    /// generator was only disturbed, and the rate comes again.
    pub fn add(&mut self, end: RateEnd) {
        let Some(step) = self.next_step() else { return };
        self.runs += 1;
        let mut held = self.tallies.range(step..).filter(|(_, tally)| tally.held > 0);
        if end == RateEnd::Limited && held.next().is_some() {
            return;
        }
        let tally = self.tallies.entry(step).or_default();
        match end {
            RateEnd::Held => tally.held += 1,
            RateEnd::Failed => tally.failed += 1,
            RateEnd::Limited => tally.limited += 1,
        }
    }

    /// What the runs so far show.
    pub fn found(&self) -> RateInterval {
        let [low, high] = self.ends();
        let tally = |step: Option<i32>| step.map_or(Tally::default(), |step| self.tallies[&step]);
        let Tally { failed, limited, .. } = tally(high);
        RateInterval {
            low: low.map(|step| self.rate(step)),
            high: high.map(|step| self.rate(step)),
            runs: [tally(low).held, failed + limited],
            is_limited: limited > failed,
        }
    }

    fn rate(&self, step: i32) -> f64 {
        self.start * (f64::from(step) / f64::from(STEPS)).exp2()
    }

    fn next_step(&self) -> Option<i32> {
        let (Some((&first, lowest)), Some((&last, _))) =
            (self.tallies.first_key_value(), self.tallies.last_key_value())
        else {
            return Some(0);
        };
        match self.ends() {
            [None, _] if first > *self.range.start() => {
                Some((first - STEPS).max(*self.range.start()))
            }
            [None, _] => (lowest.held == 0 && lowest.did_not() < SURE).then_some(first),
            [_, None] if last < *self.range.end() => Some((last + STEPS).min(*self.range.end())),
            [Some(low), None] => (self.tallies[&low].held < HELD).then_some(low),
            [Some(low), Some(high)] => self.gap(low, high).or_else(|| self.to_repeat(low, high)),
        }
    }

    /// The rate in the middle of a gap that is too wide.
    fn gap(&self, low: i32, high: i32) -> Option<i32> {
        let mut between = self.tallies.range(low + 1..high).map(|(step, _)| *step);
        let [below, above] = match (between.next(), between.next_back()) {
            (None, _) => return (high - low > 1).then_some(low + (high - low) / 2),
            (Some(one), None) => [(low, one), (one, high)],
            (Some(first), Some(last)) => [(low, first), (last, high)],
        };
        let width = |(from, to): (i32, i32)| to - from;
        let (from, to) = if width(above) > width(below) { above } else { below };
        (to - from > GAP).then_some(from + (to - from) / 2)
    }

    /// The end at which a larger part of the runs is missing.
    fn to_repeat(&self, low: i32, high: i32) -> Option<i32> {
        let [held, failed] = [self.tallies[&low].held, self.tallies[&high].did_not()];
        if held >= HELD && failed >= FAILED {
            return None;
        }
        Some(if failed * HELD < held * FAILED { high } else { low })
    }

    /// The highest rate at which all runs held and the lowest at which none did, on either side of the boundary that
    /// the fewest runs contradict. One run that went wrong far below it therefore doesn't move it.
    fn ends(&self) -> [Option<i32>; 2] {
        let all: Vec<_> = self.tallies.iter().map(|(step, tally)| (*step, *tally)).collect();
        let against = |boundary: &usize| {
            let below = all[..*boundary].iter().map(|(_, tally)| tally.did_not());
            let above = all[*boundary..].iter().map(|(_, tally)| tally.held);
            below.chain(above).sum::<usize>()
        };
        let fewest = (0..=all.len()).map(|boundary| against(&boundary)).min();
        let likely = || (0..=all.len()).filter(|boundary| Some(against(boundary)) == fewest);
        let (first, last) = (likely().next().unwrap_or(0), likely().next_back().unwrap_or(0));
        let low = all[..first].iter().rfind(|(_, tally)| tally.is_held());
        let high = all[last..].iter().find(|(_, tally)| tally.has_failed());
        [low, high].map(|end| end.map(|(step, _)| *step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search up to its end, from 100 on, by what holds at a rate in its nth run. Returns the rates, too.
    fn search(ends: impl Fn(f64, usize) -> RateEnd) -> (RateInterval, Vec<f64>) {
        let mut search = RateSearch::new(100.0, 1.0..=1e5, 40);
        let mut rates = Vec::new();
        while let Some(rate) = search.next_rate() {
            search.add(ends(rate, rates.len()));
            rates.push(rate);
        }
        (search.found(), rates)
    }

    fn below(limit: f64) -> impl Fn(f64, usize) -> RateEnd {
        move |rate, _| if rate < limit { RateEnd::Held } else { RateEnd::Failed }
    }

    #[test]
    fn without_noise_the_boundary_is_known_to_a_step_and_repeated() {
        for limit in [1.5, 40.0, 99.0, 101.0, 130.0, 2345.0, 90_000.0] {
            let (found, rates) = search(below(limit));
            let [low, high] = [found.low.unwrap(), found.high.unwrap()];
            assert!(low < limit && limit <= high && high / low < 1.06, "{limit}: {found:?}");
            assert_eq!(found.runs, [8, 5]);
            assert!(!found.is_limited && found.middle().unwrap() < high);
            // Doublings from 100, four halvings of an octave, and the repetitions.
            let doublings = (limit / 100.0).log2().abs().ceil() as usize;
            assert!(rates.len() <= 2 + doublings + 4 + 11, "{limit}: {rates:?}");
        }
    }

    #[test]
    fn one_that_never_holds_is_tried_twice_at_the_lowest_rate() {
        let (found, rates) = search(below(0.5));
        assert_eq!((found.low, found.middle()), (None, None));
        assert_eq!(
            rates.iter().map(|rate| rate.round()).collect::<Vec<_>>(),
            [100.0, 50.0, 25.0, 13.0, 6.0, 3.0, 2.0, 1.0, 1.0]
        );
    }

    #[test]
    fn one_that_holds_at_the_highest_rate_has_no_upper_end() {
        let (found, _) = search(below(f64::INFINITY));
        assert!(found.low.unwrap() > 98_000.0 && found.high.is_none(), "{found:?}");
        assert_eq!(found.runs, [8, 0]);
    }

    #[test]
    fn the_generator_is_named_if_it_is_why_the_higher_rate_fails() {
        let limited = |rate, _| if rate < 400.0 { RateEnd::Held } else { RateEnd::Limited };
        assert!(search(limited).0.is_limited);
    }

    #[test]
    fn a_generator_that_was_disturbed_at_a_lower_rate_changes_nothing() {
        let (found, rates) = search(|rate, run| match below(150.0)(rate, run) {
            RateEnd::Held if run % 2 == 1 => RateEnd::Limited,
            end => end,
        });
        let [low, high] = [found.low.unwrap(), found.high.unwrap()];
        assert!(low < 150.0 && 150.0 <= high && high < 1.2 * low, "{found:?} {rates:?}");
        assert!(!found.is_limited, "{found:?}");
    }

    #[test]
    fn one_run_that_went_wrong_does_not_hide_the_boundary() {
        for wrong in 0..16 {
            let (found, rates) = search(|rate, run| match below(150.0)(rate, run) {
                RateEnd::Held if run == wrong => RateEnd::Failed,
                RateEnd::Failed if run == wrong => RateEnd::Held,
                end => end,
            });
            let [low, high] = [found.low.unwrap(), found.high.unwrap()];
            assert!((125.0..150.0).contains(&low), "{wrong}: {found:?} {rates:?}");
            assert!((150.0..180.0).contains(&high), "{wrong}: {found:?} {rates:?}");
        }
    }

    #[test]
    fn a_search_that_is_cut_short_says_how_many_runs_agree() {
        let mut search = RateSearch::new(100.0, 1.0..=1e5, 3);
        while let Some(rate) = search.next_rate() {
            search.add(below(120.0)(rate, 0));
        }
        let found = search.found();
        assert_eq!((found.low, found.runs), (Some(100.0), [1, 1]));
    }
}

//! Whole searches for the change that made a server slower: how often is the right one found, and how often a wrong one?

use super::{
    MACHINES, RESTLESS,
    session::{SimulatedMachine, measure, normal},
};
use crate::{ChangeSearch, NextRound, SplitMix64};

const CHANGES: usize = 40;
/// Searches per rate; they measure a rate of 5 % to within ±3 %.
const SEARCHES: usize = 100;

/// Consecutive short runs on a machine, each with the logarithm of what its server achieved.
struct ConsecutiveRuns<'a> {
    runs: Vec<f64>,
    used: usize,
    rng: &'a mut SplitMix64,
}

impl ConsecutiveRuns<'_> {
    /// A run of each server, in random order. These are the logarithms of their true speeds.
    fn round<const N: usize>(&mut self, speeds: [f64; N]) -> [f64; N] {
        let mut order: Vec<usize> = (0..N).collect();
        self.rng.shuffle(&mut order);
        let mut found = [0.0; N];
        for server in order {
            // Runs of a third of a second have 3.5 % of noise, of which `measure` has 2 %.
            found[server] = speeds[server] + self.runs[self.used] + 0.029 * normal(self.rng);
            self.used += 1;
        }
        found
    }
}

#[derive(Debug, PartialEq)]
enum End {
    Found,
    Wrong,
    /// The right change and others.
    Several,
    NoDifference,
}

/// How a search ends, and after how many runs. `speeds` has the logarithm of each state's true speed.
fn search(runs: &mut ConsecutiveRuns<'_>, speeds: &[f64], guilty: usize) -> (End, usize) {
    let [first, last] = [speeds[0], speeds[CHANGES]];
    let mut search = ChangeSearch::new(CHANGES, &[], &[]);
    while let Some(next) = search.next_round() {
        match next {
            NextRound::Ends => {
                let [first, last] = runs.round([first, last]);
                search.add_ends(last - first);
            }
            NextRound::State(state) => {
                search.add_state(runs.round([first, speeds[state], last]));
            }
        }
    }
    if search.effect().is_none() {
        return (End::NoDifference, runs.used);
    }
    let suspects = search.suspects();
    let end = if !suspects.contains(&guilty) {
        End::Wrong
    } else if suspects.count() == 1 {
        End::Found
    } else {
        End::Several
    };
    (end, runs.used)
}

/// The ends of many searches in %, and the median number of runs. `speed` is that of a state, by the guilty change.
fn searches(
    machine: SimulatedMachine,
    speed: impl Fn(usize, usize) -> f64,
) -> (impl Fn(End) -> f64, usize) {
    let rng = &mut SplitMix64(0x5eed);
    let (mut ends, mut lengths) = (Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        let guilty = 1 + (rng.uniform() * CHANGES as f64) as usize;
        let speeds: Vec<_> = (0..=CHANGES).map(|state| speed(state, guilty)).collect();
        let runs = measure(rng, machine, 4000).into_iter().map(|[throughput, _]| throughput);
        let (end, length) =
            search(&mut ConsecutiveRuns { runs: runs.collect(), used: 0, rng }, &speeds, guilty);
        ends.push(end);
        lengths.push(length);
    }
    lengths.sort_unstable();
    let rate = move |end| {
        let count = ends.iter().filter(|other| **other == end).count();
        100.0 * count as f64 / SEARCHES as f64
    };
    (rate, lengths[SEARCHES / 2])
}

#[test]
fn a_search_rarely_names_a_wrong_change() {
    println!(
        "\nSearches among {CHANGES} changes of which one makes the server slower, in %: found,"
    );
    println!("several left, no difference, wrong; and runs in half of the searches");
    for percent in [0.0, 3.0, 5.0, 15.0, 100.0] {
        for machine in MACHINES {
            let effect = f64::ln_1p(-percent / (100.0 + percent));
            let (rate, runs) =
                searches(machine, |state, guilty| if state < guilty { 0.0 } else { effect });
            let [found, several, none, wrong] =
                [End::Found, End::Several, End::NoDifference, End::Wrong].map(rate);
            let name = format!("{percent} %, {machine:?}");
            println!("{name:50}{found:>8.1}{several:>8.1}{none:>8.1}{wrong:>8.1}{runs:>8}");
            if percent == 0.0 {
                // 1 % at most, known to within 1.4 %.
                assert!(
                    none >= 97.5,
                    "{name}: only changes that make a difference are searched for"
                );
                continue;
            }
            // 5 % at most, known to within 3 %.
            assert!(wrong <= 8.0, "{name}");
            let least = match (machine, percent) {
                (SimulatedMachine::Quiet, 3.0) => 85.0,
                (
                    SimulatedMachine::Steady | SimulatedMachine::Walk | SimulatedMachine::Wave,
                    3.0,
                ) => 70.0,
                (RESTLESS, 15.0) => 75.0,
                (RESTLESS | SimulatedMachine::Noisy, 3.0..=15.0) => 0.0,
                (SimulatedMachine::Periodic { runs, .. }, 3.0..=15.0) if runs < 10.0 => 0.0,
                (_, 3.0) => 35.0,
                (_, 5.0) => 75.0,
                _ => 95.0,
            };
            assert!(found >= least, "{name}");
        }
    }
}

#[test]
fn of_two_steps_the_larger_one_is_found() {
    println!(
        "\n10 % and 5 % elsewhere: the first is found, several left, no difference, wrong; runs"
    );
    for (machine, least) in [
        (SimulatedMachine::Quiet, 90.0),
        (SimulatedMachine::Steady, 80.0),
        // The smaller step is taken for the larger one more often.
        (SimulatedMachine::Busy, 55.0),
    ] {
        // The smaller step is half of the history away.
        let speed = |state: usize, guilty: usize| {
            let other = (guilty + CHANGES / 2 - 1) % CHANGES + 1;
            let step = |at: usize, percent: f64| {
                if state < at { 0.0 } else { f64::ln_1p(-percent / (100.0 + percent)) }
            };
            step(guilty, 10.0) + step(other, 5.0)
        };
        let (rate, runs) = searches(machine, speed);
        let rates = [End::Found, End::Several, End::NoDifference, End::Wrong].map(rate);
        let [found, ..] = rates;
        println!(
            "{:50}{}{runs:>8}",
            format!("{machine:?}"),
            rates.map(|rate| format!("{rate:>8.1}")).concat()
        );
        assert!(found >= least, "{machine:?}");
    }
}

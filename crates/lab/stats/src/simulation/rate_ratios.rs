//! Two searches for the highest rate, interleaved as `lab compare --objective` does: how often is the true ratio in the
//! interval, and how often are equal servers called different?

use super::{
    MACHINES,
    rates::{CAPACITY, MOST_RUNS, limit_s, run},
    session::{SimulatedMachine, measure},
};
use crate::{RateSearch, Speedup, SplitMix64, judge, median_of, rate_ratio, rounds};

/// Comparisons per rate; they measure a rate of 5 % to within ±3 %.
const COMPARISONS: usize = 160;

/// The ratio of two servers, the second of which has so many times the capacity of the first.
fn compare(machine: SimulatedMachine, load: f64, factor: f64, random: &mut SplitMix64) -> Speedup {
    let limit_s = limit_s(load);
    let mut speeds = measure(random, machine, 2 * MOST_RUNS).into_iter();
    let capacities = [CAPACITY, factor * CAPACITY];
    let mut searches = capacities.map(|capacity| {
        let start = capacity * (0.4 + 0.2 * random.uniform());
        RateSearch::new(start, start / 8.0..=200.0 * start, MOST_RUNS)
    });
    for slot in rounds(2, (1e9 * random.uniform()) as u64) {
        let rates = searches.each_ref().map(RateSearch::next_rate);
        let Some(rate) = rates[slot.subject] else {
            if rates == [None; 2] {
                break;
            }
            continue;
        };
        let [speed, _] = speeds.next().unwrap();
        let speed = speed.exp() * capacities[slot.subject] / CAPACITY;
        searches[slot.subject].add(run(rate, speed, limit_s, random));
    }
    let [baseline, candidate] = searches.map(|search| search.found());
    rate_ratio(&baseline, &candidate)
}

/// What an M/M/1 queue of so many times the capacity holds more, exactly.
fn true_ratio(load: f64, factor: f64) -> f64 {
    (factor - (1.0 - load)) / load
}

/// Shares of all comparisons, in %, and the width of half of the intervals, as a factor.
struct RatioRates {
    right: f64,
    width: f64,
    faster: f64,
    slower: f64,
}

fn rates(machine: SimulatedMachine, load: f64, factor: f64) -> RatioRates {
    let random = &mut SplitMix64(0x5eed);
    let (mut right, mut faster, mut slower, mut widths) = (0, 0, 0, Vec::new());
    for _ in 0..COMPARISONS {
        let found = compare(machine, load, factor, random);
        right += usize::from((found.low..=found.high).contains(&true_ratio(load, factor)));
        widths.push(found.high / found.low);
        let direction = judge(Some(&found), None, 0.1).verdict.direction();
        faster += usize::from(direction > 0);
        slower += usize::from(direction < 0);
    }
    let width = median_of(widths).unwrap();
    let [right, faster, slower] =
        [right, faster, slower].map(|count| 100.0 * count as f64 / COMPARISONS as f64);
    RatioRates { right, width, faster, slower }
}

#[test]
fn equal_servers_are_rarely_called_different_and_the_interval_has_the_true_ratio() {
    println!(
        "\nHighest rates at which the p99 holds, of two servers: % of intervals with the true ratio, their width as a\n\
         factor, % called faster and slower | equal servers | one with 1.5 times the capacity"
    );
    for machine in MACHINES {
        for load in [0.6, 0.9] {
            let both = [1.0, 1.5].map(|factor| rates(machine, load, factor));
            let row = both.each_ref().map(|RatioRates { right, width, faster, slower }| {
                format!("{right:>8.1}{width:>8.2}{faster:>8.1}{slower:>8.1}")
            });
            println!("{:52}{}", format!("{machine:?}, {:.0} % load", 100.0 * load), row.concat());
            let [equal, other] = both;
            // Where half of the cores come and go, the boundary moves while it is searched for, and the ratio of servers
            // that differ with it. Only that of equal ones stays.
            let is_restless = matches!(
                machine,
                SimulatedMachine::TwoSpeeds(_)
                    | SimulatedMachine::Periodic { .. }
                    | SimulatedMachine::Noisy
            );
            let called = equal.faster + equal.slower;
            if is_restless {
                assert!(equal.right >= 90.0 && called <= 10.0, "{machine:?}, {load}");
                assert!(other.slower <= 1.0, "{machine:?}, {load}");
            } else {
                assert!(equal.right.min(other.right) >= 98.0, "{machine:?}, {load}");
                assert!(called <= 1.0 && other.slower == 0.0, "{machine:?}, {load}");
                assert!(other.faster >= 85.0, "{machine:?}, {load}");
            }
        }
    }
}

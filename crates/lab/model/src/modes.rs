//! A second mode: a few answers that took far longer than all others, and all about as long.
//!
//! A percentile hides it or shows it by luck. With 0.3 % of the answers at 40 ms, the p99 is fast and
//! the p99.9 is not.

use std::ops::RangeInclusive;

use lab_display::{percent, time_ms};

use super::Latency;

/// A mode begins after a gap: no answer took between one and this many times as long.
const GAP: f64 = 2.0;
/// The fewest answers that make a mode; fewer are outliers.
const FEWEST: u64 = 10;
/// A mode is narrow: its longest answer took at most this many times as long as its shortest.
const WIDTH: f64 = 2.0;

/// A server that uses less of a core than this mostly waits.
const IDLE: f64 = 0.5;

/// Delays in milliseconds, from and to, with their usual cause and where to look first.
const SIGNATURES: [(f64, f64, &str); 5] = [
    (38.0, 46.0, "Nagle's algorithm waits for a delayed acknowledgement: set TCP_NODELAY."),
    (
        195.0,
        260.0,
        "A retransmission, or a delayed acknowledgement: see `nstat -az TcpRetransSegs`.",
    ),
    (990.0, 1_100.0, LOST_SYN),
    (2_900.0, 3_300.0, LOST_SYN),
    (4_900.0, 5_400.0, "Resolvers ask again after 5 s: is a name resolved for each request?"),
];
const LOST_SYN: &str = "A lost SYN is sent again after 1 s and 3 s: is the backlog of `listen` full? \
                        See `nstat -az TcpExtListenDrops`.";

/// A sentence about the slowest answers of `side`, if they are a mode of their own: how many they are
/// on both sides, and their usual cause.
pub fn note(side: (&str, &Latency), other: (&str, &Latency)) -> Option<String> {
    let mode = second_mode(side.1)?;
    let share = |latency: &Latency| {
        let among = latency.buckets().filter(|(ms, _)| mode.contains(ms));
        percent(among.map(|(_, count)| count as f64).sum::<f64>() / latency.count().max(1) as f64)
    };
    let cause = SIGNATURES.iter().find(|(low, high, _)| (*low..*high).contains(mode.start()));
    Some(format!(
        "{} of the answers of {} took {} to {}; {} of those of {}.{}",
        share(side.1),
        side.0,
        time_ms(*mode.start()),
        time_ms(*mode.end()),
        share(other.1),
        other.0,
        cause.map_or(String::new(), |(_, _, cause)| format!(" {cause}")),
    ))
}

/// A sentence about a side that answers most requests after the same known delay, while it uses
/// less than half a core.
pub fn delay(variant: &str, latency: &Latency, used_cores: f64) -> Option<String> {
    let [low, high] = [10.0, 90.0].map(|percent| latency.percentile_ms(percent));
    let (low, high) = (low?, high?);
    let is_delay = |(from, to, _): &&(f64, f64, &str)| low >= *from && high < *to;
    let (.., cause) = SIGNATURES.iter().find(is_delay).filter(|_| used_cores < IDLE)?;
    Some(format!(
        "most answers of {variant} took {} to {}, while it mostly waited. {cause} `lab triage` checks \
         this.",
        time_ms(low),
        time_ms(high)
    ))
}

/// The milliseconds of the slowest mode behind a gap; `None` without one, or if most answers are in it.
pub fn second_mode(latency: &Latency) -> Option<RangeInclusive<f64>> {
    let buckets: Vec<_> = latency.buckets().collect();
    let is_gap = |at: &usize| buckets[*at].0 > GAP * buckets[*at - 1].0;
    let mut end = buckets.len();
    // A lone outlier beyond the mode does not hide it.
    while let Some(start) = (1..end).rev().find(is_gap) {
        let mode = &buckets[start..end];
        let count: u64 = mode.iter().map(|(_, count)| count).sum();
        let (from, to) = (mode.first()?.0, mode.last()?.0);
        if count >= FEWEST {
            return (2 * count < latency.count() && to <= WIDTH * from).then_some(from..=to);
        }
        end = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Answers around these milliseconds, as often as that.
    fn latency(modes: &[(f64, u64)]) -> Latency {
        let mut latency = Latency::default();
        for (ms, count) in modes {
            for index in 0..*count {
                let spread = 1.0 + 0.1 * (index % 10) as f64 / 10.0;
                latency.record(Duration::from_secs_f64(ms * spread / 1e3));
            }
        }
        latency
    }

    #[test]
    fn stalls_of_a_few_answers_are_named_with_their_usual_cause() {
        let stalled = latency(&[(0.3, 60_000), (41.0, 180), (300.0, 2)]);
        let words = note(("baseline", &stalled), ("candidate", &latency(&[(0.3, 60_000)])));
        let words = words.unwrap();
        assert!(
            words.starts_with("0.3 % of the answers of baseline took 41.0 ms to 44."),
            "{words}"
        );
        assert!(words.contains("none of those of candidate. Nagle"), "{words}");
    }

    #[test]
    fn a_delay_of_all_answers_is_named_if_the_server_is_idle() {
        let delayed = latency(&[(40.5, 500)]);
        let words = delay("baseline", &delayed, 0.02).unwrap();
        assert!(words.starts_with("most answers of baseline took 40."), "{words}");
        assert!(words.contains("set TCP_NODELAY"), "{words}");
        assert_eq!(delay("baseline", &delayed, 0.9), None);
        assert_eq!(delay("baseline", &latency(&[(51.3, 500)]), 0.02), None);
    }

    #[test]
    fn one_mode_or_a_few_outliers_are_no_second_mode() {
        assert_eq!(second_mode(&latency(&[(0.3, 60_000)])), None);
        assert_eq!(second_mode(&latency(&[(0.3, 60_000), (41.0, 9)])), None);
        // Slow answers of all lengths are a tail and not a mode.
        assert_eq!(second_mode(&latency(&[(0.3, 1000), (1.0, 50), (1.9, 50), (3.5, 50)])), None);
        assert_eq!(second_mode(&Latency::default()), None);
    }
}

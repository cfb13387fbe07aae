//! A level of the closed loop, and how long it lasts.

use std::time::Duration;

use lab_protocol::Outcome;
use lab_report::Neighbours;

use super::WATCHED;

/// The levels of the closed loop.
pub const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const LEVEL: Duration = Duration::from_millis(1500);
pub const WATCH: Duration = Duration::from_secs(3);
/// A level lasts for about this many answers of one user, or two of each, but not much longer than a fast
/// server's, unless the server is slow.
const ANSWERS: f64 = 16.0;
const LONGEST: Duration = Duration::from_secs(4);
/// A slow server gives at least so many answers to all users together, and so many to each.
const OF_ALL: u32 = 10;
const OF_EACH: u32 = 3;

/// The measurement of one level of the closed loop.
#[derive(Debug)]
pub struct Level {
    pub users: usize,
    pub outcome: Outcome,
    /// The share of all cores that others took.
    pub others: Option<f64>,
    /// Requests that have no answer, if the level was long enough for two answers to each user.
    pub lost: u64,
}

impl Level {
    pub fn new(
        users: usize,
        outcome: Outcome,
        others: Option<Neighbours>,
        before: &[Self],
    ) -> Self {
        let best = peak(before).max(outcome.throughput());
        let is_long = users == 1 || twice(users, best) <= outcome.measured.as_secs_f64();
        let lost = if is_long { outcome.lost } else { 0 };
        let others =
            others.and_then(|shares| Some(shares.programs? + shares.stolen + shares.throttled));
        Self { users, outcome, others, lost }
    }

    /// How long a level lasts; `None` if it would have more users than answers. What is counted then depends on
    /// when the level begins. `visit` is how long a visit takes that meets no other.
    pub fn length(users: usize, before: &[Self], visit: Duration) -> Option<Duration> {
        let (best, longest) = (peak(before), LONGEST.max(OF_ALL * visit).as_secs_f64());
        if users > WATCHED && best * longest < users as f64 {
            return None;
        }
        let least = if users == WATCHED { WATCH } else { LEVEL };
        let alone = before.first().map_or(0.0, |level| 1.0 / level.outcome.throughput());
        let alone = (ANSWERS * alone).min(LONGEST.as_secs_f64());
        let wanted = if users == 1 { 0.0 } else { alone.max(twice(users, best).min(longest)) };
        Some(Duration::from_secs_f64(wanted).max(least).max(Self::fewest(users, visit)))
    }

    /// How long a level takes about, of a server that answers many as fast as one.
    pub fn expected(users: usize, visit: Duration) -> Duration {
        let least = if users == WATCHED { WATCH } else { LEVEL };
        // What is planned for a level expects the pace of the one before, with half of the users. That is a bit too low,
        // since the last half of a visit has no answer.
        let twice = if users == 1 { Duration::ZERO } else { 5 * visit };
        least.max(twice).max(Self::fewest(users, visit))
    }

    /// Half a visit longer than the answers take, so that the last one comes in time.
    pub fn fewest(users: usize, visit: Duration) -> Duration {
        visit * OF_ALL.div_ceil(users as u32).max(OF_EACH) + visit / 2
    }
}

/// Answers per second at the best of these levels.
pub fn peak(levels: &[Level]) -> f64 {
    levels.iter().map(|level| level.outcome.throughput()).fold(0.0, f64::max)
}

/// The seconds in which each user gets two answers.
fn twice(users: usize, per_s: f64) -> f64 {
    2.0 * users as f64 / per_s
}

/// How many cores the server used.
pub fn cores(outcome: &Outcome) -> Option<f64> {
    Some(outcome.server_cpu?.as_secs_f64() / outcome.measured.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All levels of a server that answers each request in this time, or one after the other.
    fn levels(visit: Duration, is_serial: bool) -> Vec<(Level, Duration)> {
        let mut levels: Vec<Level> = Vec::new();
        let mut lengths = Vec::new();
        for users in LEVELS {
            let Some(length) = Level::length(users, &levels, visit) else { break };
            let each = if is_serial { 1 } else { users as u64 };
            let answers = (length.as_secs_f64() / visit.as_secs_f64()) as u64 * each;
            let outcome = Outcome { ok_in_time: answers, measured: length, ..Outcome::default() };
            levels.push(Level::new(users, outcome, None, &levels));
            lengths.push(length);
        }
        levels.into_iter().zip(lengths).collect()
    }

    #[test]
    fn each_level_of_a_slow_server_has_ten_answers_and_three_for_each_user() {
        for ms in [500, 1000, 1500, 2000, 3000, 10_000, 20_000] {
            let visit = Duration::from_millis(ms);
            let found = levels(visit, false);
            assert_eq!(found.len(), LEVELS.len());
            for (Level { users, outcome, .. }, length) in &found {
                let wanted = 10.max(3 * *users as u64);
                assert!(outcome.ok_in_time >= wanted, "{ms} {users}: {}", outcome.ok_in_time);
                assert!(*length <= Level::expected(*users, visit).max(LONGEST), "{ms} {users}");
            }
            for (Level { users, outcome, .. }, _) in levels(visit, true) {
                assert!(outcome.ok_in_time >= 3.max(10 / users as u64), "{ms} {users}");
            }
        }
        // A fast one takes no longer than it did.
        for (level, length) in levels(Duration::from_micros(100), false) {
            assert_eq!(length, if level.users == WATCHED { WATCH } else { LEVEL });
        }
    }
}

//! One level of the closed loop, and how long it lasts.

use std::time::Duration;

use lab_model::Outcome;
use lab_report::Neighbours;

use super::WATCHED;

/// The levels of the closed loop.
pub const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const LEVEL: Duration = Duration::from_millis(1500);
pub const WATCH: Duration = Duration::from_secs(3);
/// A level lasts for about this many answers of one user, or two of each, but not much longer than a fast
/// server's.
const ANSWERS: f64 = 16.0;
const LONGEST: Duration = Duration::from_secs(4);

/// One level of the closed loop.
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
        let others = others.and_then(|it| Some(it.programs? + it.stolen + it.throttled));
        Self { users, outcome, others, lost }
    }

    /// How long a level lasts; `None` if it would have more users than answers. What is counted then depends on
    /// when the level begins.
    pub fn length(users: usize, before: &[Self]) -> Option<Duration> {
        let (best, longest) = (peak(before), LONGEST.as_secs_f64());
        if users > WATCHED && best * longest < users as f64 {
            return None;
        }
        let least = if users == WATCHED { WATCH } else { LEVEL };
        let alone = before.first().map_or(0.0, |level| 1.0 / level.outcome.throughput());
        let wanted = if users == 1 { 0.0 } else { (ANSWERS * alone).max(twice(users, best)) };
        Some(Duration::from_secs_f64(wanted.min(longest)).max(least))
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

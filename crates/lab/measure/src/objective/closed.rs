//! What a closed loop shows of a server before a search for a rate: where to begin, and with how many connections.

use std::time::Duration;

use lab_protocol::Outcome;

/// If throughput still grows with the last users, that many more of them may be served.
pub const MORE_USERS: usize = 512;
const GROWS: f64 = 0.75;
/// How long they are measured, at least.
const LENGTH: Duration = Duration::from_millis(2500);

/// What so many users got.
#[derive(Clone, Copy, Debug)]
pub struct ServedLevel {
    pub users: usize,
    pub per_s: f64,
    /// Whether all of them got right answers.
    pub is_served: bool,
}

impl ServedLevel {
    pub fn of(users: usize, outcome: &Outcome) -> Self {
        let faults = outcome.wrong + outcome.failed + outcome.lost;
        Self { users, per_s: outcome.throughput(), is_served: faults == 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ClosedLoop {
    pub peak_per_s: f64,
    /// How long a visit takes that meets no other.
    pub alone_s: f64,
    /// The most users that were all served.
    pub users: usize,
    /// Whether throughput still grew with the last of them.
    pub grows: bool,
}

impl ClosedLoop {
    /// Of levels with more and more users; `None` if no level had all its answers.
    pub fn of(levels: &[ServedLevel]) -> Option<Self> {
        let served = levels.iter().filter(|level| level.is_served);
        let users = served.map(|level| level.users).max()?;
        let alone = levels.first()?.per_s;
        let grows = match levels {
            [.., before, last] => last.users == users && grows(*before, *last),
            _ => false,
        };
        let peak_per_s = levels.iter().map(|level| level.per_s).fold(0.0, f64::max);
        (alone > 0.0).then(|| Self { peak_per_s, alone_s: 1.0 / alone, users, grows })
    }

    /// How long more users are measured.
    pub fn length_of_more(self) -> Duration {
        LENGTH.max(4 * Duration::from_secs_f64(self.alone_s))
    }

    /// The same, if so many more users were served.
    #[must_use]
    pub fn with(self, more: ServedLevel) -> Self {
        let Self { users, peak_per_s, .. } = self;
        if !more.is_served || more.per_s < peak_per_s {
            return self;
        }
        let grows = grows(ServedLevel { users, per_s: peak_per_s, is_served: true }, more);
        Self { peak_per_s: more.per_s, users: more.users, grows, ..self }
    }
}

/// Whether throughput grows nearly as the users do.
fn grows(before: ServedLevel, last: ServedLevel) -> bool {
    last.per_s / before.per_s >= GROWS * last.users as f64 / before.users as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(users: usize, per_s: u64, failed: u64) -> ServedLevel {
        let measured = Duration::from_secs(1);
        let outcome = Outcome { measured, ok_in_time: per_s, failed, ..Outcome::default() };
        ServedLevel::of(users, &outcome)
    }

    #[test]
    fn more_connections_help_only_while_throughput_grows_with_the_users() {
        let grows = |last| {
            ClosedLoop::of(&[level(1, 10, 0), level(32, 320, 0), level(64, last, 0)]).unwrap().grows
        };
        assert!(grows(640) && grows(500) && !grows(400));
        let failing = [level(1, 10, 0), level(32, 320, 0), level(64, 640, 9)];
        let closed = ClosedLoop::of(&failing).unwrap();
        assert_eq!((closed.users, closed.grows), (32, false));
        assert_eq!(closed.alone_s, 0.1);
        // More users that get fewer answers, or wrong ones, change nothing.
        let more = |per_s, failed| closed.with(level(512, per_s, failed));
        assert_eq!((more(500, 0).users, more(9000, 1).users), (32, 32));
        assert!(!more(3000, 0).grows && more(9000, 0).grows && more(9000, 0).users == 512);
    }
}

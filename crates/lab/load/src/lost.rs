//! Which unfinished requests are lost, and which ones the load explains.
//!
//! # The rule
//!
//! A request is *lost* if it is unfinished after grace although the server had the time to answer it.
//! A server that works off `open` requests at `pace` answers per second needs `open / pace` seconds
//! for the last one, and its longest answer shows how much its times vary. So:
//!
//! - A request that was in flight when the measurement ended is lost if it is more than twice as old
//!   as the server needs for all that were in flight, and more than twice as old as the longest answer
//!   took. This finds users who hang one by one, and a connection that hangs while the arrival queue
//!   of an open loop grows.
//! - If grace passes without any answer where ten were due, the server has stopped, and every
//!   unfinished request is lost. So are they if it never answered at all.
//!
//! The rule cannot tell a request that hangs from one that takes seconds while all others take
//! milliseconds. It does not see a hung request if a run is too short for the others: with 3,000 users
//! and 20 answers a second, any of them may still be waiting for its turn.

use std::time::Duration;

/// How much longer than expected an answer may take. A server with fewer requests in flight is often
/// slower.
const SLACK: f64 = 2.0;
/// How many answers a server must owe during grace before their absence means that it has stopped.
/// At a constant pace with random gaps, none of ten comes once in 20,000 times.
const STOPPED: f64 = 10.0;

/// What a server has answered until the end of grace.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// Answers per second, right or wrong, during the measurement.
    pub pace: f64,
    /// Answers during grace, and its length.
    pub late: u64,
    pub grace: Duration,
    /// The longest time from a request to its answer.
    pub longest: Duration,
}

impl Evidence {
    /// Whether a request of this age is lost, if `open` were in flight at the end of the measurement.
    pub fn has_lost(&self, open: usize, age: Duration) -> bool {
        let had_time = open as f64 * SLACK < self.pace * age.as_secs_f64();
        had_time && age > self.longest.mul_f64(SLACK)
    }

    pub fn has_stopped(&self) -> bool {
        let due = self.pace * self.grace.as_secs_f64();
        !self.grace.is_zero() && self.late == 0 && (self.pace == 0.0 || due >= STOPPED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn evidence(pace: f64, late: u64, longest: f64) -> Evidence {
        Evidence { pace, late, grace: SECOND, longest: SECOND.mul_f64(longest) }
    }

    #[test]
    fn a_request_much_older_than_the_others_is_lost() {
        assert!(evidence(20_000.0, 7, 0.005).has_lost(8, SECOND), "one of 8 users");
        assert!(!evidence(20.0, 19, 3.0).has_lost(3000, 4 * SECOND), "one of 3,000");
        assert!(!evidence(10.0, 7, 0.9).has_lost(8, SECOND), "an answer takes 0.8 s");
        assert!(evidence(10.0, 7, 0.9).has_lost(8, 3 * SECOND), "it has hung for three seconds");
        assert!(!evidence(1000.0, 7, 0.6).has_lost(8, SECOND), "some answers take long");
    }

    #[test]
    fn a_server_has_stopped_if_nothing_comes_where_ten_answers_are_due() {
        assert!(evidence(20.0, 0, 2.0).has_stopped());
        assert!(evidence(0.0, 0, 0.0).has_stopped(), "it never answered");
        assert!(!evidence(20.0, 1, 2.0).has_stopped());
        assert!(!evidence(1.5, 0, 0.9).has_stopped(), "one or two answers were due");
        assert!(!Evidence { grace: Duration::ZERO, ..evidence(20.0, 0, 2.0) }.has_stopped());
    }
}

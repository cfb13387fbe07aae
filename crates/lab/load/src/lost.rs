//! Which unfinished requests are lost, and which ones the load explains.
//!
//! # The rule
//!
//! A request is *lost* if it is unfinished after grace although the server had the time to answer it.
//! A server that works off `open` requests at `pace` answers per second needs `open / pace` seconds
//! for the last one, and its longest answer shows how much its times vary. So:
//!
//! - After the measurement, users send nothing new. A request that was in flight then is lost if it is
//!   more than twice as old as the server needs for all that were in flight, and more than twice as
//!   old as the longest answer. A user who hangs from the warm-up on is found like this, and so is a
//!   connection that hangs while the arrival queue of an open loop gets longer and longer.
//! - Arrivals of an open loop that come after those, from the arrival queue, are lost if grace is
//!   twice as long as the server needs for the whole queue.
//! - If grace passes without any answer where ten were due, the server has stopped, and every
//!   unfinished request is lost. So are they if it never answered at all.
//!
//! The pace is that of the measurement or that of grace, whichever is higher: a slow server may give
//! its first answer during grace.
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

/// The answers, right or wrong, that came during a span of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    pub count: u64,
    pub during: Duration,
}

impl Answers {
    fn per_s(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.count as f64 / self.during.as_secs_f64() }
    }
}

/// What a server has answered until the end of grace.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    pub measurement: Answers,
    pub grace: Answers,
    /// The longest time from a request to its answer.
    pub longest: Duration,
}

impl Evidence {
    /// Whether a request in flight of this age is lost, if `open` were in flight at the end of the
    /// measurement.
    pub fn has_lost(&self, open: usize, age: Duration) -> bool {
        self.has_stopped() || self.answers(open, age) && age > self.longest.mul_f64(SLACK)
    }

    /// Whether the arrivals after the first `open` are lost, if they are unfinished.
    pub fn has_lost_queue(&self, open: usize) -> bool {
        self.has_stopped() || self.answers(open, self.grace.during)
    }

    fn pace(&self) -> f64 {
        self.measurement.per_s().max(self.grace.per_s())
    }

    fn has_stopped(&self) -> bool {
        let due = self.pace() * self.grace.during.as_secs_f64();
        let had_time = !self.grace.during.is_zero() && (due == 0.0 || due >= STOPPED);
        had_time && self.grace.count == 0
    }

    /// Whether the server answers `open` requests within this time.
    fn answers(&self, open: usize, time: Duration) -> bool {
        open as f64 * SLACK < self.pace() * time.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// After a measurement of two seconds and a grace of one.
    fn evidence(measurement: u64, grace: u64, longest_ms: u64) -> Evidence {
        let answers = |count, during| Answers { count, during };
        Evidence {
            measurement: answers(measurement, 2 * SECOND),
            grace: answers(grace, SECOND),
            longest: Duration::from_millis(longest_ms),
        }
    }

    #[test]
    fn a_request_much_older_than_the_others_is_lost() {
        assert!(evidence(40_000, 7, 5).has_lost(8, SECOND), "one of 8 users at 20,000 a second");
        assert!(!evidence(39, 19, 3000).has_lost(3000, 4 * SECOND), "3,000 users at 20 a second");
        assert!(!evidence(20, 7, 900).has_lost(8, SECOND), "an answer takes 0.8 s");
        assert!(evidence(20, 7, 900).has_lost(8, 3 * SECOND), "it has hung for three seconds");
        assert!(!evidence(2000, 7, 600).has_lost(8, SECOND), "some answers take long");
    }

    #[test]
    fn a_queue_is_lost_if_the_server_has_the_time_for_it() {
        assert!(!evidence(2000, 1000, 20).has_lost_queue(600), "0.6 s of work, at half the pace");
        assert!(evidence(2000, 990, 20).has_lost_queue(400), "0.4 s of work");
    }

    #[test]
    fn a_server_that_has_stopped_has_lost_everything() {
        assert!(evidence(40, 0, 2000).has_lost(3000, SECOND), "20 answers were due during grace");
        assert!(evidence(40, 0, 2000).has_lost_queue(3000));
        assert!(!evidence(3, 0, 900).has_lost(8, SECOND), "1.5 answers were due");
        assert!(evidence(0, 0, 0).has_lost(8, SECOND), "it never answered");
        assert!(!evidence(0, 1, 2500).has_lost(8, SECOND), "a slow server's first answer");
    }

    #[test]
    fn without_grace_a_server_has_not_stopped() {
        let evidence = Evidence { grace: Answers::default(), ..evidence(1000, 0, 5) };
        assert!(!evidence.has_lost(8, Duration::from_millis(8)));
        assert!(!evidence.has_lost_queue(8));
    }
}

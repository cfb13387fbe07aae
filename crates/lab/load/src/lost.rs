//! Which unfinished requests are lost, and which ones the load explains.
//!
//! # The rule
//!
//! A request is *lost* if it is unfinished after grace although the server had the time to answer it.
//! How much time that takes follows from the server's pace: a server that works off `open` requests
//! at `pace` answers per second needs `open / pace` seconds for the last one.
//!
//! - After the measurement, users send nothing new. The requests in flight then are `open`; if the
//!   server needs less than half of grace for them, those still unfinished are lost. It may take twice
//!   as long as expected because fewer requests in parallel are often answered more slowly.
//! - Arrivals of an open loop that were in the arrival queue come after those in flight, so for them
//!   `open` is both together. With a long queue this separates the two cases: a request in flight that
//!   never ends is lost, and the end of the queue is not.
//! - If grace passes without any answer where ten were due, the server has stopped, and every
//!   unfinished request is lost. So are they if it never answered at all.
//!
//! The pace is that of the measurement or that of grace, whichever is higher: a slow server may give
//! its first answer during grace.
//!
//! The rule cannot tell a request that hangs from one that takes longer than grace while the others
//! take milliseconds. Nor does it see a single hung request of a closed loop with so many users that
//! the server needs longer than grace for all of them.

use std::time::Duration;

/// The least number of answers that a server owes during grace, from which on none means that it has
/// stopped. With random answers at a constant pace, none of ten happens once in 20,000 times.
const STOPPED: f64 = 10.0;

/// The answers that came during a span of time.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    pub count: u64,
    pub during: Duration,
}

impl Answers {
    fn per_s(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.count as f64 / self.during.as_secs_f64() }
    }
}

/// Whether the load explains that some of `open` requests are unfinished after `grace`.
pub fn is_explained(open: usize, measurement: Answers, grace: Answers) -> bool {
    if grace.during.is_zero() {
        return true;
    }
    let pace = measurement.per_s().max(grace.per_s());
    let due = pace * grace.during.as_secs_f64();
    let stopped = grace.count == 0 && (due == 0.0 || due >= STOPPED);
    !stopped && open as f64 > due / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a measurement of two seconds and a grace of one.
    fn explained(open: usize, measurement: u64, grace: u64) -> bool {
        let answers = |count, seconds| Answers { count, during: Duration::from_secs(seconds) };
        is_explained(open, answers(measurement, 2), answers(grace, 1))
    }

    #[test]
    fn a_backlog_longer_than_half_of_grace_is_explained() {
        assert!(explained(2990, 39, 19), "3,000 users at 20 a second");
        assert!(!explained(8, 40_000, 7), "one of 8 users at 20,000 a second");
        assert!(explained(60, 200, 55), "0.6 s of work, at half the pace");
        assert!(!explained(40, 200, 39), "0.4 s of work");
    }

    #[test]
    fn a_server_that_has_stopped_explains_nothing() {
        assert!(!explained(3000, 40, 0), "20 answers were due during grace");
        assert!(explained(8, 3, 0), "1.5 answers were due");
        assert!(!explained(8, 0, 0), "it never answered");
        assert!(explained(8, 0, 1), "a slow server's first answer");
    }

    #[test]
    fn without_grace_nothing_can_be_said() {
        let answers = |count, seconds| Answers { count, during: Duration::from_secs(seconds) };
        assert!(is_explained(8, answers(0, 1), answers(0, 0)));
        assert!(is_explained(8, answers(1000, 1), answers(0, 0)));
    }
}

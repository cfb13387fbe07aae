//! Finds the lost requests: unfinished ones for which the server had enough time.
//!
//! A server that gives `pace` answers per second needs `open / pace` seconds for the requests that are
//! open when the measurement ends, and its longest answer shows how much its times vary. A request is
//! lost if it has waited for more than twice the longer of these two times. If no answer came during
//! grace although ten were due, the server has stopped, and every unfinished request is lost.
//!
//! The rule cannot tell a request that hangs from one that takes seconds while all others take
//! milliseconds. It finds nothing if a run is too short for all open requests: with 3,000 users and 20
//! answers a second, any of them may still be waiting for its turn.

use std::time::Duration;

use serde::Deserialize;

use super::seconds;

/// How much longer than expected an answer may take. A server with fewer requests in flight is often
/// slower.
const SLACK: f64 = 2.0;
/// How many answers a server must owe during grace before their absence means that it has stopped.
/// At a constant pace with random gaps, none of ten comes once in 20,000 times.
const STOPPED: f64 = 10.0;

/// An engine's report of the requests that have no answer when grace is over.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Unanswered {
    /// How long each has waited, in seconds.
    pub ages_s: Vec<f64>,
    /// Answers during grace, right or wrong. They show how long an unfinished request may still take.
    pub late: u64,
    /// The longest time from a request to its answer.
    #[serde(rename = "longest_s", with = "seconds")]
    pub longest: Duration,
    /// The actual length of grace.
    #[serde(rename = "grace_s", with = "seconds")]
    pub grace: Duration,
}

impl Unanswered {
    /// How many are lost, if so many answers came in the measurement and during grace.
    pub fn lost(&self, answers: u64, measured: Duration) -> u64 {
        let pace = answers as f64 / (measured + self.grace).as_secs_f64();
        let is_due = answers == 0 || pace * self.grace.as_secs_f64() >= STOPPED;
        let patience = if is_due && self.late == 0 {
            0.0
        } else {
            let open = self.ages_s.len() as f64 + self.late as f64;
            SLACK * (open / pace).max(self.longest.as_secs_f64())
        };
        self.ages_s.iter().filter(|age| **age > patience).count() as u64
    }
}

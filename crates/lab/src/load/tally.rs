//! The account of all requests: none is lost, none is counted twice.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use super::{Latency, Verdict};

/// Counts requests from their start to their end.
///
/// What is under way when the measurement begins belongs to it, because the server works on it
/// then. What is under way at its end may finish in the time of grace; the rest is unfinished.
#[derive(Debug, Default)]
pub struct Tally {
    /// Whether requests count: after the warm-up.
    measuring: bool,
    /// Whether answers count for throughput: until the measurement ends.
    in_time: bool,
    under_way: HashMap<usize, Instant>,
    pub sent: u64,
    pub ok: u64,
    pub ok_in_time: u64,
    pub wrong: u64,
    pub failed: u64,
    pub first_fault: Option<String>,
    pub latency: Latency,
}

impl Tally {
    /// The warm-up is over.
    pub fn begin_measurement(&mut self) {
        self.measuring = true;
        self.in_time = true;
        self.sent = self.under_way.len() as u64;
    }

    /// The measurement is over, and the time of grace begins.
    pub fn end_measurement(&mut self) {
        self.in_time = false;
    }

    /// How many requests are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// A user sends a request. A user has at most one under way.
    pub fn sends(&mut self, user: usize) {
        self.under_way.insert(user, Instant::now());
        self.sent += u64::from(self.measuring);
    }

    /// A user's request has ended.
    pub fn ends(&mut self, user: usize, verdict: Verdict) {
        let Some(start) = self.under_way.remove(&user) else { return };
        if !self.measuring {
            return;
        }
        match verdict {
            Verdict::Ok => {
                self.ok += 1;
                self.ok_in_time += u64::from(self.in_time);
                self.latency.record(start.elapsed());
            }
            Verdict::Wrong(fault) => {
                self.wrong += 1;
                self.first_fault.get_or_insert(fault);
            }
            Verdict::Failed(fault) => {
                self.failed += 1;
                self.first_fault.get_or_insert(fault);
            }
        }
    }

    /// The time of grace is over: records what is still under way at its age, which is the least
    /// that its latency can be. Returns the age of the youngest.
    pub fn close(&mut self) -> Option<Duration> {
        for start in self.under_way.values() {
            self.latency.record(start.elapsed());
        }
        self.under_way.values().map(Instant::elapsed).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_request_is_accounted_for_once() {
        let mut tally = Tally::default();
        tally.sends(0);
        tally.ends(0, Verdict::Ok); // In the warm-up: does not count.
        tally.sends(0);
        tally.sends(1);
        tally.begin_measurement();
        tally.ends(0, Verdict::Ok); // Carried over from the warm-up: counts.
        tally.sends(0);
        tally.ends(0, Verdict::Wrong("7 instead of 6".into()));
        tally.sends(2);
        tally.ends(2, Verdict::Failed("no answer".into()));
        tally.sends(2);
        tally.end_measurement();
        tally.ends(2, Verdict::Ok); // In the time of grace: counts, but not for throughput.
        tokio::time::advance(Duration::from_secs(2)).await;

        let youngest = tally.close();
        assert_eq!((tally.ok, tally.ok_in_time, tally.wrong, tally.failed), (2, 1, 1, 1));
        assert_eq!(tally.sent, 2 + 1 + 1 + tally.under_way() as u64);
        assert_eq!(youngest, Some(Duration::from_secs(2)));
        assert!(tally.latency.percentile_ms(100.0).unwrap() >= 2000.0);
        assert_eq!(tally.first_fault.as_deref(), Some("7 instead of 6"));
    }
}

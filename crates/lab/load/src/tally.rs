//! The account of a closed loop's requests: none is lost, none is counted twice.

use std::time::Duration;

use tokio::time::Instant;

use super::{Latency, Verdict};

/// How requests ended.
#[derive(Debug, Default)]
pub struct Counts {
    pub sent: u64,
    pub ok: u64,
    pub ok_in_time: u64,
    pub wrong: u64,
    pub failed: u64,
    pub first_fault: Option<String>,
    pub latency: Latency,
}

impl Counts {
    /// A request has ended after this time.
    pub fn settle(&mut self, verdict: Verdict, latency: Duration) {
        match verdict {
            Verdict::Ok => {
                self.ok += 1;
                self.latency.record(latency);
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
}

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
    /// When each user's request was sent that is under way.
    under_way: Vec<Option<Instant>>,
    pub counts: Counts,
}

impl Tally {
    /// An account for so many users, numbered from 0.
    pub fn new(users: usize) -> Self {
        Self { under_way: vec![None; users], ..Self::default() }
    }

    /// The warm-up is over.
    pub fn begin_measurement(&mut self) {
        self.measuring = true;
        self.in_time = true;
        self.counts.sent = self.under_way() as u64;
    }

    /// The measurement is over, and the time of grace begins.
    pub fn end_measurement(&mut self) {
        self.in_time = false;
    }

    /// How many requests are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.iter().flatten().count()
    }

    /// A user sends a request. A user has at most one under way.
    pub fn sends(&mut self, user: usize) {
        self.under_way[user] = Some(Instant::now());
        self.counts.sent += u64::from(self.measuring);
    }

    /// A user's request has ended.
    pub fn ends(&mut self, user: usize, verdict: Verdict) {
        let Some(start) = self.under_way[user].take() else { return };
        if self.measuring {
            self.counts.ok_in_time += u64::from(self.in_time && verdict == Verdict::Ok);
            self.counts.settle(verdict, start.elapsed());
        }
    }

    /// The time of grace is over: records what is still under way at its age, which is the least
    /// that its latency can be. Returns the age of the youngest.
    pub fn close(&mut self) -> Option<Duration> {
        let ages = || self.under_way.iter().flatten().map(Instant::elapsed);
        ages().for_each(|age| self.counts.latency.record(age));
        ages().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_request_is_accounted_for_once() {
        let mut tally = Tally::new(3);
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
        let counts = &tally.counts;
        assert_eq!((counts.ok, counts.ok_in_time, counts.wrong, counts.failed), (2, 1, 1, 1));
        assert_eq!(counts.sent, 2 + 1 + 1 + tally.under_way() as u64);
        assert_eq!(youngest, Some(Duration::from_secs(2)));
        assert!(counts.latency.percentile_ms(100.0).unwrap() >= 2000.0);
        assert_eq!(counts.first_fault.as_deref(), Some("7 instead of 6"));
    }
}

//! Counts every request exactly once, however it ends.

use tokio::time::Instant;

use super::{Fault, Outcome};

#[derive(Clone, Copy, Debug)]
struct InFlight {
    since: Instant,
    counts: bool,
}

/// The requests of all users, from start to end. A user has at most one in flight.
#[derive(Debug)]
pub struct Account {
    in_flight: Vec<Option<InFlight>>,
    /// Whether right answers count towards throughput: during the measurement.
    pub in_time: bool,
    /// The counts and the latencies; the rest is still missing.
    pub counts: Outcome,
}

impl Account {
    pub fn new(users: usize) -> Self {
        Self { in_flight: vec![None; users], in_time: false, counts: Outcome::default() }
    }

    /// Begins the measurement of a closed loop. Requests in flight belong to it, since the server
    /// is working on them.
    pub fn begin_closed_loop(&mut self) {
        self.in_time = true;
        for request in self.in_flight.iter_mut().flatten() {
            request.counts = true;
            self.counts.sent += 1;
        }
    }

    /// A user of a closed loop sends a request.
    pub fn sends(&mut self, user: usize) {
        self.counts.sent += u64::from(self.in_time);
        self.starts(user, Instant::now(), self.in_time);
    }

    /// A user starts a request whose latency is timed from `since`.
    pub fn starts(&mut self, user: usize, since: Instant, counts: bool) {
        self.in_flight[user] = Some(InFlight { since, counts });
    }

    /// A user's request has ended.
    pub fn ends(&mut self, user: usize, result: Result<(), Fault>) {
        let Some(InFlight { since, counts: true }) = self.in_flight[user].take() else {
            self.counts.ok_in_time += u64::from(self.in_time && result.is_ok());
            return;
        };
        let counts = &mut self.counts;
        match result {
            Ok(()) => {
                counts.ok += 1;
                counts.ok_in_time += u64::from(self.in_time);
                counts.latency.record(since.elapsed());
            }
            Err(fault) => {
                let count = if fault.is_failure() { &mut counts.failed } else { &mut counts.wrong };
                *count += 1;
                counts.first_fault.get_or_insert_with(|| fault.to_string());
            }
        }
    }

    fn open(&self) -> impl Iterator<Item = Instant> {
        self.in_flight.iter().flatten().filter(|one| one.counts).map(|one| one.since)
    }

    /// Whether a request that counts is in flight.
    pub fn is_open(&self) -> bool {
        self.open().next().is_some()
    }

    /// Records each request in flight, and those in `queue`, at its current age: a lower bound of
    /// its latency.
    pub fn close(&mut self, queue: impl IntoIterator<Item = Instant>) -> Outcome {
        let ages: Vec<_> = self.open().chain(queue).map(|since| since.elapsed()).collect();
        let mut counts = std::mem::take(&mut self.counts);
        ages.iter().for_each(|age| counts.latency.record(*age));
        counts.unfinished = ages.len() as u64;
        counts.youngest_unfinished = ages.into_iter().min();
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_request_is_counted_once() {
        let mut account = Account::new(3);
        account.sends(0);
        account.ends(0, Ok(())); // During the warm-up: does not count.
        account.sends(0);
        account.sends(1);
        account.begin_closed_loop();
        account.ends(0, Ok(())); // In flight when the measurement began: counts.
        account.sends(0);
        account.ends(0, Err(Fault::Mismatch("7 instead of 6".into())));
        account.sends(2);
        account.ends(2, Err(Fault::Failure("no answer".into())));
        account.sends(2);
        account.in_time = false;
        account.ends(2, Ok(())); // During grace: counts, but not for throughput.
        tokio::time::advance(Duration::from_secs(2)).await;

        let counts = account.close([]);
        assert_eq!((counts.ok, counts.ok_in_time, counts.wrong, counts.failed), (2, 1, 1, 1));
        assert_eq!((counts.sent, counts.unfinished), (5, 1));
        assert_eq!(counts.youngest_unfinished, Some(Duration::from_secs(2)));
        assert!(counts.latency.percentile_ms(100.0).unwrap() >= 2000.0);
        assert_eq!(counts.first_fault.as_deref(), Some("7 instead of 6"));
    }
}

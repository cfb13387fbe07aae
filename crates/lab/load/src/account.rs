//! Counts every request exactly once, however it ends.

use std::time::Duration;

use lab_protocol::{Latency, Outcome, Unanswered};
use tokio::time::Instant;

use super::Fault;

#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// When its latency begins.
    since: Instant,
    /// When the generator was done with its part: the request was sent, or in the arrival queue.
    ready: Instant,
    sent: Instant,
    counts: bool,
}

/// The requests of all users, from start to end. A user has at most one in flight.
#[derive(Debug, Default)]
pub struct Account {
    in_flight: Vec<Option<InFlight>>,
    /// Since when right answers count towards throughput: during the measurement.
    begun: Option<Instant>,
    ended: Option<Instant>,
    /// A fifth of the closed loop's measurement, as planned.
    fifth: Option<Duration>,
    /// Since the measurement began, right or wrong.
    answers: u64,
    unanswered: Unanswered,
    served: Option<Latency>,
    /// The counts, the latencies, and what the system reports; the rest is still missing.
    pub counts: Outcome,
}

impl Account {
    pub fn new(users: usize) -> Self {
        Self { in_flight: vec![None; users], ..Self::default() }
    }

    /// An account that also keeps latencies without the lag of an open loop's schedule.
    pub fn of_open_loop(users: usize) -> Self {
        Self { served: Some(Latency::default()), ..Self::new(users) }
    }

    /// The latencies without the generator's own lag in sending; of an open loop.
    pub fn served(&self) -> Option<&Latency> {
        self.served.as_ref()
    }

    /// Begins the measurement of a closed loop. Requests in flight belong to it, since the server
    /// is working on them.
    pub fn begin_closed_loop(&mut self, measurement: Duration) {
        self.begin();
        self.fifth = Some(measurement / 5);
        self.counts.fifths = vec![0; 5];
        for request in self.in_flight.iter_mut().flatten() {
            request.counts = true;
            self.counts.sent += 1;
        }
    }

    pub fn begin(&mut self) {
        self.begun = Some(Instant::now());
        self.answers = 0;
    }

    /// Ends the measurement; grace begins, in which no new requests come.
    pub fn end(&mut self) {
        self.ended = Some(Instant::now());
    }

    fn in_time(&self) -> bool {
        self.begun.is_some() && self.ended.is_none()
    }

    pub fn sends(&mut self, user: usize) {
        let counts = self.in_time();
        self.counts.sent += u64::from(counts);
        let now = Instant::now();
        self.starts(user, now, now, counts);
    }

    /// A user starts a request whose latency is timed from `since`, and that the generator held until
    /// `ready`.
    pub fn starts(&mut self, user: usize, since: Instant, ready: Instant, counts: bool) {
        self.in_flight[user] = Some(InFlight { since, ready, sent: Instant::now(), counts });
    }

    pub fn ends(&mut self, user: usize, result: Result<(), Fault>) {
        let in_time = self.in_time();
        let Some(InFlight { since, ready, sent, counts }) = self.in_flight[user].take() else {
            return;
        };
        let now = Instant::now();
        self.answers += 1;
        self.unanswered.late += u64::from(self.ended.is_some());
        self.unanswered.longest = self.unanswered.longest.max(now - sent);
        if in_time && result.is_ok() {
            self.counts.ok_in_time += 1;
            if let (Some(begun), Some(fifth)) = (self.begun, self.fifth) {
                let nth = ((now - begun).as_secs_f64() / fifth.as_secs_f64()) as usize;
                self.counts.fifths[nth.min(4)] += 1;
            }
        }
        if !counts {
            return result.map_or_else(|fault| self.fails_early(&fault), |()| ());
        }
        let counts = &mut self.counts;
        match result {
            Ok(()) => {
                counts.ok += 1;
                counts.latency.record(now - since);
                if let Some(served) = &mut self.served {
                    served.record(now - ready);
                }
            }
            Err(fault) => self.fails(&fault),
        }
    }

    fn fails(&mut self, fault: &Fault) {
        let Outcome { failed, wrong, first_fault, .. } = &mut self.counts;
        *(if fault.is_failure() { failed } else { wrong }) += 1;
        first_fault.get_or_insert_with(|| fault.to_string());
    }

    /// A fault of the warm-up, whose right answers do not count: it is a fault whenever it comes.
    pub fn fails_early(&mut self, fault: &Fault) {
        self.counts.sent += 1;
        self.fails(fault);
    }

    /// Whether a request is in flight, even one that does not count: it may be lost.
    pub fn is_open(&self) -> bool {
        self.in_flight.iter().flatten().next().is_some()
    }

    /// Ends grace. Records each request in flight, and those in `queue`, at its current age: a lower
    /// bound of its latency.
    pub fn close(&mut self, queue: &[Instant]) -> Outcome {
        let in_flight = self.in_flight.iter().flatten();
        let counting = in_flight.clone().filter(|one| one.counts);
        let waiting = || queue.iter().copied();
        let ages: Vec<_> = counting
            .clone()
            .map(|one| one.since)
            .chain(waiting())
            .map(|since| since.elapsed())
            .collect();
        if let Some(served) = &mut self.served {
            let ready = counting.map(|one| one.ready).chain(waiting());
            ready.for_each(|since| served.record(since.elapsed()));
        }
        let mut counts = std::mem::take(&mut self.counts);
        ages.iter().for_each(|age| counts.latency.record(*age));
        counts.unfinished = ages.len() as u64;
        counts.youngest_unfinished = ages.into_iter().min();
        let [since_begin, grace] =
            [self.begun, self.ended].map(|at| at.map_or(Duration::ZERO, |at| at.elapsed()));
        let in_flight = in_flight.map(|one| one.sent.elapsed().as_secs_f64());
        // An arrival that still waits has done so for all of grace, at least.
        let ages_s = in_flight.chain(queue.iter().map(|_| grace.as_secs_f64())).collect();
        let unanswered = Unanswered { ages_s, grace, ..self.unanswered.clone() };
        counts.lost = unanswered.lost(self.answers, since_begin.saturating_sub(grace));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_request_is_counted_once() {
        let mut account = Account::new(3);
        account.sends(0);
        account.ends(0, Ok(())); // During the warm-up: does not count.
        account.sends(0);
        account.sends(1);
        account.begin_closed_loop(Duration::from_secs(1));
        account.ends(0, Ok(())); // In flight when the measurement began: counts.
        account.sends(0);
        account.ends(0, Err(Fault::Mismatch("7 instead of 6".into())));
        account.sends(2);
        account.ends(2, Err(Fault::Failure("no answer".into())));
        account.sends(2);
        tokio::time::advance(Duration::from_secs(1)).await;
        account.end();
        account.ends(2, Ok(())); // During grace: counts, but not for throughput.
        tokio::time::advance(Duration::from_secs(1)).await;

        let counts = account.close(&[]);
        assert_eq!((counts.ok, counts.ok_in_time, counts.wrong, counts.failed), (2, 1, 1, 1));
        assert_eq!((counts.sent, counts.unfinished, counts.lost), (5, 1, 0));
        assert_eq!(counts.youngest_unfinished, Some(Duration::from_secs(2)));
        assert!(counts.latency.quantile_ms(100.0).unwrap() >= 2000.0);
        assert_eq!(counts.first_fault.as_deref(), Some("7 instead of 6"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_of_the_warm_up_is_one() {
        let mut account = Account::new(1);
        account.sends(0);
        account.ends(0, Err(Fault::Mismatch("7 instead of 6".into())));
        account.begin_closed_loop(Duration::from_secs(1));
        account.end();
        let counts = account.close(&[]);
        assert_eq!((counts.sent, counts.ok, counts.wrong), (1, 0, 1));
        assert_eq!(counts.first_fault.as_deref(), Some("7 instead of 6"));
    }
}

//! The arrival queue of an open loop: arrivals that are due and not yet sent.

use std::{collections::VecDeque, ops::Range};

use lab_model::{Latency, Outcome, Punctuality};
use tokio::time::Instant;

use super::{Fault, account::Account};

#[derive(Clone, Copy, Debug)]
struct Arrival {
    due: Instant,
    /// When it was in the queue, if all users were busy: from then on the server keeps it waiting.
    queued: Option<Instant>,
}

/// Tracks arrivals from the moment they are due.
///
/// Only arrivals due within the measurement count; those of the warm-up are served and forgotten.
/// Throughput, however, includes every answer that comes within the measurement: the server first
/// works off what the warm-up left in the queue.
#[derive(Debug)]
pub struct ArrivalQueue {
    /// When the measurement begins and ends.
    window: Range<Instant>,
    waiting: VecDeque<Arrival>,
    idle_users: usize,
    pub account: Account,
    /// How late the generator itself was; see [`Punctuality`].
    lag: Latency,
    queued: u64,
}

impl ArrivalQueue {
    pub fn new(users: usize, window: Range<Instant>) -> Self {
        Self {
            window,
            waiting: VecDeque::new(),
            idle_users: users,
            account: Account::of_open_loop(users),
            lag: Latency::default(),
            queued: 0,
        }
    }

    pub fn arrives(&mut self, due: Instant) {
        // Users who were woken but have not run yet still have an arrival in the queue.
        let queued = (self.waiting.len() >= self.idle_users).then(Instant::now);
        self.waiting.push_back(Arrival { due, queued });
        if self.window.contains(&due) {
            self.account.counts.sent += 1;
            if let Some(queued) = queued {
                self.queued += 1;
                self.lag.record(queued - due);
            }
        }
    }

    /// Hands the first arrival to an idle user. Returns false if the queue is empty.
    pub fn serves(&mut self, user: usize) -> bool {
        let Some(Arrival { due, queued }) = self.waiting.pop_front() else { return false };
        let counts = self.window.contains(&due);
        let ready = queued.unwrap_or_else(Instant::now);
        // Nothing was in its way, so the time since it was due is the generator's own delay.
        if queued.is_none() && counts {
            self.lag.record(ready - due);
        }
        self.account.starts(user, due, ready, counts);
        self.idle_users -= 1;
        true
    }

    pub fn ends(&mut self, user: usize, result: Result<(), Fault>) {
        self.idle_users += 1;
        self.account.ends(user, result);
    }

    /// The due times of waiting arrivals that count.
    fn waiting(&self) -> impl Iterator<Item = Instant> {
        self.waiting.iter().map(|arrival| arrival.due).filter(|due| self.window.contains(due))
    }

    /// Whether a request is in flight, or an arrival that counts waits.
    pub fn is_open(&self) -> bool {
        self.account.is_open() || self.waiting().next().is_some()
    }

    pub fn punctuality(&self) -> Punctuality {
        let lag_p99_ms = self.lag.quantile_ms(99.0).unwrap_or_default();
        let served = self.account.served();
        let at_least_ms = served.map(|it| it.without_lag(&self.lag)).unwrap_or_default();
        Punctuality { lag_p99_ms, queued: self.queued, at_least_ms }
    }

    pub fn close(&mut self) -> Outcome {
        let waiting: Vec<_> = self.waiting().collect();
        self.account.close(&waiting)
    }
}

//! The arrival queue of an open loop: arrivals that are due and not yet sent.

use std::{collections::VecDeque, ops::Range};

use lab_protocol::{Accepted, Latency, Outcome, Punctuality};
use tokio::time::Instant;

use super::{Fault, account::Account, visit_draw::Drawn, visit_log::VisitLog};

#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    due: Instant,
    /// When it was in the queue, if all users were busy: from then on the server keeps it waiting.
    queued: Option<Instant>,
    /// Whether it was due within the measurement.
    counts: bool,
    /// The visit that the arrival makes, if there are several kinds.
    pub drawn: Option<Drawn>,
    /// The arrival's row in the table of visits.
    row: Option<usize>,
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
    /// The result of each visit, if there are several kinds of visits.
    visits: Option<VisitLog>,
    /// How late the generator itself was; see [`Punctuality`].
    lag: Latency,
    queued: u64,
}

impl ArrivalQueue {
    pub fn new(users: usize, window: Range<Instant>, visits: Option<VisitLog>) -> Self {
        Self {
            window,
            waiting: VecDeque::new(),
            idle_users: users,
            account: Account::of_open_loop(users),
            visits,
            lag: Latency::default(),
            queued: 0,
        }
    }

    /// When the measurement ends.
    pub fn end(&self) -> Instant {
        self.window.end
    }

    /// Begins the measurement now, before its time.
    pub fn begin_early(&mut self) {
        self.window.start = Instant::now();
    }

    /// Ends the measurement now, before its time.
    pub fn end_early(&mut self) {
        self.window.end = Instant::now();
    }

    pub fn arrives(&mut self, due: Instant, drawn: Option<Drawn>) {
        // Users who were woken but have not run yet still have an arrival in the queue.
        let queued = (self.waiting.len() >= self.idle_users).then(Instant::now);
        let counts = self.window.contains(&due);
        let mut row = None;
        if counts {
            self.account.counts.sent += 1;
            if let Some(queued) = queued {
                self.queued += 1;
                self.lag.record(queued - due);
            }
            if let (Some(visits), Some(drawn)) = (&mut self.visits, drawn) {
                row = Some(visits.arrives(drawn.kind, due - self.window.start));
            }
        }
        self.waiting.push_back(Arrival { due, queued, counts, drawn, row });
    }

    /// Hands the first arrival to an idle user.
    pub fn serves(&mut self, user: usize) -> Option<Arrival> {
        let arrival = self.waiting.pop_front()?;
        let Arrival { due, queued, counts, row, .. } = arrival;
        let ready = queued.unwrap_or_else(Instant::now);
        // Nothing was in its way, so the time since it was due is the generator's own delay.
        if queued.is_none() && counts {
            self.lag.record(ready - due);
        }
        self.account.starts(user, due, ready, counts);
        if let Some(visits) = &mut self.visits {
            visits.starts(user, row);
        }
        self.idle_users -= 1;
        Some(arrival)
    }

    pub fn ends(&mut self, user: usize, result: Result<Accepted, Fault>) {
        self.idle_users += 1;
        if let Some(visits) = &mut self.visits {
            visits.ends(user, &result, self.window.start.elapsed());
        }
        self.account.ends(user, result.map(|_| ()));
    }

    /// The due times of waiting arrivals that count.
    fn waiting(&self) -> impl Iterator<Item = Instant> {
        self.waiting.iter().filter(|arrival| arrival.counts).map(|arrival| arrival.due)
    }

    /// Whether a request is in flight, or an arrival that counts waits.
    pub fn is_open(&self) -> bool {
        self.account.is_open() || self.waiting().next().is_some()
    }

    pub fn punctuality(&self) -> Punctuality {
        let lag_p99_ms = self.lag.quantile_ms(99.0).unwrap_or_default();
        let served = self.account.served();
        let at_least_ms = served.map(|latency| latency.without_lag(&self.lag)).unwrap_or_default();
        Punctuality { lag_p99_ms, queued: self.queued, at_least_ms }
    }

    pub fn close(&mut self) -> Outcome {
        let waiting: Vec<_> = self.waiting().collect();
        let since_begin = self.window.start.elapsed();
        let visits = self.visits.take().map(|visits| visits.close(since_begin));
        Outcome { visits, ..self.account.close(&waiting) }
    }
}

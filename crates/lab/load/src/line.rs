//! The account of an open loop's arrivals: who waits in line, who is served, how it ended.

use std::{collections::VecDeque, ops::Range, time::Duration};

use tokio::time::Instant;

use super::{Verdict, punctuality::Lags, tally::Counts};

/// One arrival.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// When it was due.
    due: Instant,
    /// Whether it has to wait until a user has finished.
    queued: bool,
}

/// Counts arrivals from the moment they are due to their end.
///
/// Those count that are due within the measurement; the warm-up's are served and forgotten.
/// Throughput is another matter: it takes all answers that come within the measurement, because the
/// server works through what the warm-up left it.
#[derive(Debug)]
pub struct Line {
    /// The arrivals that count are due in here.
    window: Range<Instant>,
    /// Whether answers count for throughput.
    in_time: bool,
    waiting: VecDeque<Arrival>,
    /// When the arrival was due that each user serves.
    under_way: Vec<Option<Instant>>,
    /// How many users serve nobody.
    idle: usize,
    pub counts: Counts,
    pub lags: Lags,
}

impl Line {
    /// An account for so many users, numbered from 0.
    pub fn new(users: usize, window: Range<Instant>) -> Self {
        Self {
            window,
            in_time: false,
            waiting: VecDeque::new(),
            under_way: vec![None; users],
            idle: users,
            counts: Counts::default(),
            lags: Lags::default(),
        }
    }

    /// The measurement begins or ends: answers count for throughput from here on, or no more.
    pub fn count_answers(&mut self, in_time: bool) {
        self.in_time = in_time;
    }

    /// An arrival takes its place at the end of the line.
    pub fn arrives(&mut self, due: Instant) {
        // Those who were called up but did not come yet are still in line.
        let queued = self.waiting.len() >= self.idle;
        self.waiting.push_back(Arrival { due, queued });
        if self.window.contains(&due) {
            self.counts.sent += 1;
            if queued {
                self.lags.queued(due.elapsed(), self.waiting.len() - self.idle);
            }
        }
    }

    /// A user serves the first in line, if there is one.
    pub fn serves(&mut self, user: usize) -> bool {
        let Some(Arrival { due, queued }) = self.waiting.pop_front() else { return false };
        // Nobody was before this one, so whatever time has passed is the generator's fault.
        if !queued && self.window.contains(&due) {
            self.lags.record(due.elapsed());
        }
        self.under_way[user] = Some(due);
        self.idle -= 1;
        true
    }

    /// A user has finished.
    pub fn ends(&mut self, user: usize, verdict: Verdict) {
        let Some(due) = self.under_way[user].take() else { return };
        self.idle += 1;
        self.counts.ok_in_time += u64::from(self.in_time && verdict == Verdict::Ok);
        if self.window.contains(&due) {
            self.counts.settle(verdict, due.elapsed());
        }
    }

    /// The ages of the arrivals that count and have no answer yet.
    fn ages(&self) -> impl Iterator<Item = Duration> {
        let waiting = self.waiting.iter().map(|arrival| arrival.due);
        waiting
            .chain(self.under_way.iter().flatten().copied())
            .filter(|due| self.window.contains(due))
            .map(|due| due.elapsed())
    }

    /// Whether some arrivals that count have no answer yet.
    pub fn is_open(&self) -> bool {
        self.ages().next().is_some()
    }

    /// The time of grace is over: records what has no answer yet at its age, which is the least
    /// that its latency can be. Returns how many there were, and the age of the youngest.
    pub fn close(&mut self) -> (u64, Option<Duration>) {
        let ages: Vec<_> = self.ages().collect();
        ages.iter().for_each(|age| self.counts.latency.record(*age));
        (ages.len() as u64, ages.into_iter().min())
    }
}

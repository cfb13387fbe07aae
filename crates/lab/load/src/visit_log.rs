//! The results of the visits that were due during the measurement.

use std::time::{Duration, SystemTime};

use lab_protocol::{Accepted, VisitEnd, Visits};

use super::Fault;

/// A table of visits. All its memory is allocated before the load, unless far more arrive than the rate says.
#[derive(Debug)]
pub struct VisitLog {
    visits: Visits,
    /// The row of the visit that each user makes, unless it is one of the warm-up.
    rows: Vec<Option<usize>>,
}

impl VisitLog {
    /// A log with room for `mean` visits and some more.
    pub fn new(users: usize, mean: f64) -> Self {
        // The number of random arrivals has the standard deviation of its square root.
        let rows = (mean + 6.0 * mean.sqrt()) as usize + 10;
        let visits = Visits {
            kind: Vec::with_capacity(rows),
            due_us: Vec::with_capacity(rows),
            latency_us: Vec::with_capacity(rows),
            answer: Vec::with_capacity(rows),
            began_unix_us: None,
        };
        Self { visits, rows: vec![None; users] }
    }

    /// Adds a visit that is due, so long after the begin of the measurement. Returns its row.
    pub fn arrives(&mut self, kind: u16, due: Duration) -> usize {
        let Visits { kind: kinds, due_us, latency_us, answer, .. } = &mut self.visits;
        kinds.push(kind);
        due_us.push(due.as_micros() as u64);
        latency_us.push(0);
        answer.push(VisitEnd::Unfinished);
        kinds.len() - 1
    }

    pub fn starts(&mut self, user: usize, row: Option<usize>) {
        self.rows[user] = row;
    }

    /// A user's visit has ended `now`, counted like its due time.
    pub fn ends(&mut self, user: usize, result: &Result<Accepted, Fault>, now: Duration) {
        let Some(row) = self.rows[user].take() else { return };
        self.visits.answer[row] = match result {
            Ok(Accepted::Answer) => VisitEnd::Right,
            Ok(Accepted::Or) => VisitEnd::Other,
            Err(Fault::Mismatch(_)) => VisitEnd::Wrong,
            Err(Fault::Failure(_)) => VisitEnd::Failed,
        };
        self.visits.latency_us[row] = now.as_micros() as u64 - self.visits.due_us[row];
    }

    /// The table, with the current age of each unfinished visit.
    pub fn close(mut self, now: Duration) -> Visits {
        let Visits { due_us, latency_us, answer, began_unix_us, .. } = &mut self.visits;
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().ok();
        *began_unix_us = since_1970.map(|begun| begun.saturating_sub(now).as_micros() as u64);
        let now_us = now.as_micros() as u64;
        for ((due_us, latency_us), answer) in due_us.iter().zip(latency_us).zip(answer) {
            if *answer == VisitEnd::Unfinished {
                *latency_us = now_us - due_us;
            }
        }
        self.visits
    }
}

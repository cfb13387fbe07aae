//! What the wait for another server forbids: answers before it is over, and more of them than their users can
//! ask for. Only the clock outside the server can say so.

use std::time::Duration;

use lab_model::{CaseRecord, MINE, Run};
use lab_report::{thousands, time_ms};

/// The share of a wait that the histogram of the latencies may round away.
const ROUNDED: f64 = 0.01;

/// A wait that was drawn.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub time: Duration,
    /// Who takes that long.
    pub of: String,
}

impl Wait {
    /// What is wrong with a server whose earliest answer took this long, if something is, and what is needed.
    pub fn refuse_early(&self, earliest_ms: f64) -> Option<[String; 2]> {
        let wait = self.time.as_secs_f64() * 1e3;
        (earliest_ms < wait * (1.0 - ROUNDED)).then(|| {
            let (found, wait) = (time_ms(earliest_ms), time_ms(wait));
            [
                format!("a request was answered in {found}, although {} takes {wait}", self.of),
                format!("at least {wait} for each answer"),
            ]
        })
    }

    /// The same for a server that in each run gave more answers per second than users who wait can ask for.
    fn refuse_many(&self, least_rps: f64, users: usize, think_ms: u64) -> Option<[String; 2]> {
        let (think, wait) = (think_ms as f64 / 1e3, self.time.as_secs_f64());
        let most = users as f64 / (think + wait);
        (least_rps > most).then(|| {
            let users = thousands(users as f64);
            [
                format!(
                    "{} answers per second, more than {users} users ask for",
                    thousands(least_rps)
                ),
                format!("at most {users} / ({think} s + {wait} s) = {}", thousands(most)),
            ]
        })
    }

    /// What is wrong with the reader's server in the runs of the load, if something is.
    pub fn refuse(&self, record: &CaseRecord) -> Option<[String; 2]> {
        let of_mine = |run: &&Run| run.variant == MINE;
        let all = record.runs.iter().chain(&record.open_runs).filter(of_mine);
        let earliest = all.filter_map(|run| Some(run.outcome.latency.buckets().next()?.0));
        let rates = record.runs.iter().filter(of_mine).map(|run| run.outcome.throughput());
        let early = earliest.min_by(f64::total_cmp).and_then(|it| self.refuse_early(it));
        early.or_else(|| {
            self.refuse_many(rates.min_by(f64::total_cmp)?, record.users, record.think_ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_before_the_wait_is_over_is_refused() {
        let wait = Wait { time: Duration::from_millis(50), of: "the directory".to_owned() };
        assert_eq!(wait.refuse_early(50.0), None);
        assert_eq!(wait.refuse_early(49.6), None, "rounded");
        let [found, needed] = wait.refuse_early(0.2).unwrap();
        assert_eq!(found, "a request was answered in 200 µs, although the directory takes 50.0 ms");
        assert_eq!(needed, "at least 50.0 ms for each answer");
    }

    #[test]
    fn more_answers_than_the_users_can_ask_for_are_refused_with_the_formula() {
        let wait = Wait { time: Duration::from_millis(50), of: String::new() };
        assert_eq!(wait.refuse_many(5_454.0, 3_000, 500), None);
        let [found, needed] = wait.refuse_many(6_000.0, 3_000, 500).unwrap();
        assert_eq!(found, "6,000 answers per second, more than 3,000 users ask for");
        assert_eq!(needed, "at most 3,000 / (0.5 s + 0.05 s) = 5,455");
    }
}

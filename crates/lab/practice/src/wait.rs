//! What the wait for another server forbids: answers before it is over, and more of them than their users can
//! ask for. Only the clock outside the server can say so.

use std::time::Duration;

use lab_cases::MINE;
use lab_report::{CaseRecord, Run, say, thousands, time_ms};

/// The share of a wait that the histogram of the latencies may round away.
const ROUNDED: f64 = 0.01;
/// How many times its capacity another service may seem to serve: a run can begin and end with full desks.
const FULL_DESKS: f64 = 1.1;

/// A wait that was drawn.
#[derive(Clone, Debug)]
pub(super) struct DrawnWait {
    pub time: Duration,
    /// Who takes that long, and how many it serves.
    pub declared: lab_cases::Wait,
}

impl DrawnWait {
    /// What is wrong with a server whose earliest answer took this long, if something is, and what is needed.
    pub fn refuse_early(&self, earliest_ms: f64) -> Option<[String; 2]> {
        let wait = self.time.as_secs_f64() * 1e3;
        (earliest_ms < wait * (1.0 - ROUNDED)).then(|| {
            let (found, wait) = (time_ms(earliest_ms), time_ms(wait));
            [
                say!(
                    "a request was answered in {found}, although {service} takes {wait}",
                    found,
                    service = self.declared.of,
                    wait
                ),
                say!("at least {wait} for each answer", wait),
            ]
        })
    }

    /// The same for a server that in each run gave more answers per second than who is waited for can serve.
    fn refuse_unserved(&self, least_rps: f64) -> Option<[String; 2]> {
        let (serves, in_a_row) = (self.declared.serves? as f64, self.declared.in_a_row as f64);
        let wait = self.time.as_secs_f64();
        let most = serves / (in_a_row * wait);
        (least_rps > FULL_DESKS * most).then(|| {
            let of = &self.declared.of;
            let each = if in_a_row > 1.0 { format!("{in_a_row} × ") } else { String::new() };
            let rate = thousands(least_rps);
            let most = format!("{serves} / ({each}{wait} s) = {}", thousands(most));
            [
                say!("{rate} answers per second, more than {service} serves", rate, service = of),
                say!("at most {most}", most),
            ]
        })
    }

    /// The same for a server that in each run gave more answers per second than users who wait can ask for.
    fn refuse_many(&self, least_rps: f64, users: usize, think_ms: u64) -> Option<[String; 2]> {
        let (think, wait) = (think_ms as f64 / 1e3, self.time.as_secs_f64());
        let most = users as f64 / (think + wait);
        (least_rps > most).then(|| {
            let users = thousands(users as f64);
            let rate = thousands(least_rps);
            let most = format!("{users} / ({think} s + {wait} s) = {}", thousands(most));
            [
                say!("{rate} answers per second, more than {users} users ask for", rate, users),
                say!("at most {most}", most),
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
            let least_rps = rates.min_by(f64::total_cmp)?;
            let unserved = self.refuse_unserved(least_rps);
            unserved.or_else(|| self.refuse_many(least_rps, record.users, record.think_ms))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(of: &str) -> DrawnWait {
        let (flag, of) = (String::new(), of.to_owned());
        let declared = lab_cases::Wait { flag, ms: [40, 60], of, serves: Some(8), in_a_row: 5 };
        DrawnWait { time: Duration::from_millis(50), declared }
    }

    #[test]
    fn an_answer_that_comes_before_the_wait_is_over_is_refused() {
        let wait = wait("the directory");
        assert_eq!(wait.refuse_early(50.0), None);
        assert_eq!(wait.refuse_early(49.6), None, "rounded");
        let [found, needed] = wait.refuse_early(0.2).unwrap();
        assert_eq!(found, "a request was answered in 200 µs, although the directory takes 50.0 ms");
        assert_eq!(needed, "at least 50.0 ms for each answer");
    }

    #[test]
    fn more_answers_than_the_users_can_ask_for_are_refused_with_the_formula() {
        let wait = wait("");
        assert_eq!(wait.refuse_many(5_454.0, 3_000, 500), None);
        let [found, needed] = wait.refuse_many(6_000.0, 3_000, 500).unwrap();
        assert_eq!(found, "6,000 answers per second, more than 3,000 users ask for");
        assert_eq!(needed, "at most 3,000 / (0.5 s + 0.05 s) = 5,455");
    }

    #[test]
    fn more_answers_than_the_other_service_can_serve_are_refused_with_the_formula() {
        let mut wait = wait("the office");
        assert_eq!(wait.refuse_unserved(34.0), None);
        let [found, needed] = wait.refuse_unserved(36.0).unwrap();
        assert_eq!(found, "36 answers per second, more than the office serves");
        assert_eq!(needed, "at most 8 / (5 × 0.05 s) = 32");
        wait.declared.serves = None;
        assert_eq!(wait.refuse_unserved(1e6), None);
    }
}

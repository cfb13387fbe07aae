//! Random arrivals at half of what a server can answer. The users of a closed loop wait while a server stands still,
//! and send it nothing; these come all the same.

use std::time::Duration;

use lab_observation::{Tail, ThreadStates};
use lab_profile::watch_threads;
use lab_protocol::{LoadPlan, OpenLoop, Outcome, Request, VisitEnd, VisitKind, Visits};
use lab_servers::Server;

use crate::bench::generate;

/// How long they come before the measurement: the server is warm.
pub(super) const WARM_UP: Duration = Duration::from_millis(400);
const GRACE: Duration = Duration::from_millis(500);
const OF_PEAK: f64 = 0.5;
/// More arrivals show no more, and the generator needs a core, too.
const MOST_PER_S: f64 = 5_000.0;
/// Connections for each request of other clients, which may take longer than a visit.
const OF_OTHERS: usize = 8;

/// Visits that come at random, and the requests of other clients among them.
#[derive(Clone, Debug)]
pub struct RandomLoad {
    /// All of them.
    load: OpenLoop,
    length: Duration,
    /// The visits per second.
    rate_per_s: f64,
    /// The visit, and then the others.
    kinds: Vec<VisitKind>,
}

/// The result of random arrivals. The outcome has a row for each visit.
#[derive(Debug)]
pub struct RandomArrivals {
    pub rate_per_s: f64,
    pub outcome: Outcome,
    pub threads: Option<ThreadStates>,
}

/// Half of this many visits per second, or fewer.
pub fn half_of(peak_per_s: f64) -> f64 {
    (OF_PEAK * peak_per_s).min(MOST_PER_S)
}

impl RandomLoad {
    /// Visits with these requests. `None` if one draws or keeps something, because a drawn kind of visit is always the
    /// same; or if fewer than so many visits would come.
    pub fn new(
        requests: &[Request],
        load: OpenLoop,
        background: &[(f64, Request)],
        length: Duration,
        fewest: f64,
    ) -> Option<Self> {
        let all = requests.iter().chain(background.iter().map(|(_, request)| request));
        let rate_per_s = load.rate_per_s;
        if !all.into_iter().all(Request::is_fixed) || rate_per_s * length.as_secs_f64() < fewest {
            return None;
        }
        let kind = |name: &str, weight, requests| VisitKind {
            name: name.to_owned(),
            weight,
            alternatives: vec![requests],
        };
        // A plan has kinds of visits or a background, so that the others are kinds, too. By the rates as weights, the
        // arrivals of each are as random.
        let mut kinds = vec![kind("request", rate_per_s, requests.to_vec())];
        let mut load = load;
        for (rate, request) in background {
            kinds.push(kind(&request.path, *rate, vec![request.clone()]));
            load.rate_per_s += rate;
            load.connections += OF_OTHERS * load.connections_per_user;
        }
        Some(Self { load, length, rate_per_s, kinds })
    }

    /// Sends them to a server, and looks at the threads of its process.
    ///
    /// # Errors
    ///
    /// If the load fails.
    pub async fn send(self, server: &Server, pid: u32) -> anyhow::Result<RandomArrivals> {
        let Self { load, length, rate_per_s, kinds } = self;
        let plan = LoadPlan {
            server_pid: Some(pid),
            warm_up: WARM_UP,
            measurement: length,
            grace: GRACE,
            ..LoadPlan::of_visits(server.target(), kinds, load)
        };
        let window = WARM_UP + length + GRACE / 2;
        let (outcome, threads) = tokio::join!(generate(&plan), watch_threads(pid, window));
        let mut outcome = outcome?;
        outcome.visits = outcome.visits.map(own);
        Ok(RandomArrivals { rate_per_s, outcome, threads })
    }
}

/// The visits without those of others.
fn own(mut visits: Visits) -> Visits {
    let is_own: Vec<_> = visits.kind.iter().map(|kind| *kind == 0).collect();
    retain(&mut visits.kind, &is_own);
    retain(&mut visits.due_us, &is_own);
    retain(&mut visits.latency_us, &is_own);
    retain(&mut visits.answer, &is_own);
    visits
}

fn retain<T>(column: &mut Vec<T>, rows: &[bool]) {
    let mut rows = rows.iter();
    column.retain(|_| rows.next().is_some_and(|row| *row));
}

impl RandomArrivals {
    /// Why the slowest of them are slow, as far as the threads show it.
    pub fn tail(&self) -> Option<Tail> {
        Tail::of(&self.outcome, self.threads.as_ref())
    }

    /// The latency that this share of those have at most which were not lost.
    pub(super) fn quantile_ms(&self, share: f64) -> Option<f64> {
        let visits = self.outcome.visits.as_ref()?;
        let rows = visits.latency_us.iter().zip(&visits.answer);
        let answered = rows.filter(|(_, answer)| **answer != VisitEnd::Failed);
        let mut latencies: Vec<_> = answered.map(|(us, _)| *us).collect();
        latencies.sort_unstable();
        let nth = (share * latencies.len() as f64).ceil() as usize;
        Some(*latencies.get(nth.saturating_sub(1))? as f64 / 1e3)
    }

    /// When the last of them was answered, from the begin of the measurement, in microseconds.
    pub(super) fn last_answer_us(&self) -> Option<u64> {
        let visits = self.outcome.visits.as_ref()?;
        let rows = visits.due_us.iter().zip(&visits.latency_us).zip(&visits.answer);
        let answered = rows
            .filter(|(_, answer)| !matches!(answer, VisitEnd::Failed | VisitEnd::Unfinished))
            .map(|((due, latency), _)| due + latency);
        answered.max()
    }
}

#[cfg(test)]
mod tests {
    use lab_protocol::Answer;

    use super::*;

    #[test]
    fn the_requests_of_others_come_next_to_the_visits_and_do_not_count() {
        let get = |path: &str| Request::get(path, Answer::Any);
        let new = |rate, background: &[(f64, Request)]| {
            let load = OpenLoop::new(rate, 8);
            RandomLoad::new(&[get("/health")], load, background, Duration::from_secs(5), 200.0)
        };
        assert!(new(39.0, &[]).is_none());
        let both = new(1_000.0, &[(12.0, get("/login"))]).unwrap();
        assert_eq!(
            (both.rate_per_s, both.load.rate_per_s, both.load.connections),
            (1e3, 1012.0, 16)
        );
        let weights: Vec<_> = both.kinds.iter().map(|kind| kind.weight).collect();
        assert_eq!(weights, [1_000.0, 12.0]);
        let visits = Visits {
            kind: vec![0, 1, 0],
            due_us: vec![1, 2, 3],
            latency_us: vec![10_000, 900_000, 30_000],
            answer: vec![VisitEnd::Right; 3],
            began_unix_us: Some(5),
        };
        let outcome = Outcome { visits: Some(own(visits)), ..Outcome::default() };
        let found = RandomArrivals { rate_per_s: 1e3, outcome, threads: None };
        assert_eq!([0.5, 0.99].map(|share| found.quantile_ms(share).unwrap()), [10.0, 30.0]);
        assert_eq!(found.last_answer_us(), Some(30_003));
    }
}

//! Random arrivals at half of what a server can answer. The users of a closed loop wait while a server stands still,
//! and send it nothing; these come all the same.

use std::time::Duration;

use lab_observation::{Tail, ThreadStates};
use lab_profile::watch_threads;
use lab_protocol::{Background, LoadPlan, OpenLoop, Outcome, Request, VisitEnd, VisitKind};
use lab_servers::Server;

use crate::bench::generate;

/// How long they come before the measurement: the server is warm.
pub(super) const WARM_UP: Duration = Duration::from_millis(400);
const GRACE: Duration = Duration::from_millis(500);
const OF_PEAK: f64 = 0.5;
/// More arrivals show no more, and the generator needs a core, too.
const MOST_PER_S: f64 = 5_000.0;

/// Visits that come at random, and the requests of other clients meanwhile.
#[derive(Clone, Debug)]
pub struct RandomLoad {
    load: OpenLoop,
    length: Duration,
    requests: Vec<Request>,
    background: Vec<Background>,
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
    /// Visits with these requests. `None` if they draw or keep something, because a drawn kind of visit is always the
    /// same; or if fewer than so many would come.
    pub fn new(
        requests: &[Request],
        load: OpenLoop,
        length: Duration,
        fewest: f64,
    ) -> Option<Self> {
        let is_possible = requests.iter().all(Request::is_fixed)
            && load.rate_per_s * length.as_secs_f64() >= fewest;
        let requests = requests.to_vec();
        is_possible.then_some(Self { load, length, requests, background: Vec::new() })
    }

    #[must_use]
    pub fn next_to(self, background: Vec<Background>) -> Self {
        Self { background, ..self }
    }

    /// Sends them to a server, and looks at the threads of its process.
    ///
    /// # Errors
    ///
    /// If the load fails.
    pub async fn send(self, server: &Server, pid: u32) -> anyhow::Result<RandomArrivals> {
        let kind = VisitKind {
            name: "request".to_owned(),
            weight: 1.0,
            alternatives: vec![self.requests],
        };
        let plan = LoadPlan {
            server_pid: Some(pid),
            warm_up: WARM_UP,
            measurement: self.length,
            grace: GRACE,
            background: self.background,
            ..LoadPlan::of_visits(server.target(), vec![kind], self.load)
        };
        let window = WARM_UP + self.length + GRACE / 2;
        let (outcome, threads) = tokio::join!(generate(&plan), watch_threads(pid, window));
        Ok(RandomArrivals { rate_per_s: self.load.rate_per_s, outcome: outcome?, threads })
    }
}

impl RandomArrivals {
    /// Why the slowest of them are slow, as far as the threads show it.
    pub fn tail(&self) -> Option<Tail> {
        Tail::of(&self.outcome, self.threads.as_ref())
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

//! Random arrivals at half of the peak. The users of a closed loop wait while a server stands still, and send it
//! nothing; these come all the same.

use std::time::Duration;

use lab_measure::bench::generate;
use lab_observation::ThreadStates;
use lab_profile::watch_threads;
use lab_protocol::{LoadPlan, OpenLoop, Outcome, Request, VisitKind};

use super::{
    Level,
    level::peak,
    stages::{GRACE, Loaded, WARM_UP},
};

const LENGTH: Duration = Duration::from_secs(6);
const OF_PEAK: f64 = 0.5;
/// More arrivals show no more, and the generator needs a core, too.
const MOST_PER_S: f64 = 5_000.0;
/// Fewer show nothing.
const FEWEST: f64 = 36.0;

/// The result of random arrivals. The outcome has a row for each visit.
#[derive(Debug)]
pub struct RandomArrivals {
    pub rate_per_s: f64,
    pub outcome: Outcome,
    pub threads: Option<ThreadStates>,
}

impl Loaded<'_> {
    /// `None` if the server is too slow for enough of them.
    pub(super) async fn arrivals(
        &self,
        levels: &[Level],
    ) -> anyhow::Result<Option<RandomArrivals>> {
        // A drawn kind of visit is always the same.
        if !self.triage.server.requests.iter().all(Request::is_fixed) {
            return Ok(None);
        }
        let rate_per_s = (OF_PEAK * peak(levels)).min(MOST_PER_S);
        // More connections than this were not served.
        let served = levels.iter().filter(|level| level.lost == 0 && level.outcome.failed == 0);
        let connections = served.map(|level| level.users).max();
        let Some(connections) = connections.filter(|_| rate_per_s * LENGTH.as_secs_f64() >= FEWEST)
        else {
            return Ok(None);
        };
        self.triage.progress.step("random arrivals");
        let kind = VisitKind {
            name: "request".to_owned(),
            weight: 1.0,
            alternatives: vec![self.triage.server.requests.clone()],
        };
        let load = LoadPlan {
            server_pid: Some(self.pid),
            warm_up: WARM_UP,
            measurement: LENGTH,
            grace: GRACE,
            ..LoadPlan::of_visits(
                self.server.target(),
                vec![kind],
                OpenLoop::new(rate_per_s, connections),
            )
        };
        let (outcome, threads) =
            tokio::join!(generate(&load), watch_threads(self.pid, WARM_UP + LENGTH + GRACE / 2));
        let outcome = outcome?;
        self.memory.learn_of(&outcome);
        Ok(Some(RandomArrivals { rate_per_s, outcome, threads }))
    }
}

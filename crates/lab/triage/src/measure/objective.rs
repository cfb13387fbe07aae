//! The highest rate of random arrivals at which an objective holds, on the server that keeps running.

use std::time::{Duration, SystemTime};

use lab_measure::{
    bench::generate,
    objective::{ClosedLoop, MORE_USERS, RateCourse, ServedLevel, not_searched, why_long},
};
use lab_protocol::{Arrivals, LoadPlan};
use lab_report::{ObjectiveSearch, paragraph, significant};
use tokio::time::sleep;

use super::{
    Level,
    level::peak,
    stages::{Loaded, warm_up},
};

/// All runs take about this time.
const ALL: Duration = Duration::from_secs(100);

impl Level {
    fn served(&self) -> ServedLevel {
        let is_served = self.lost == 0 && self.outcome.failed == 0;
        ServedLevel { users: self.users, per_s: self.outcome.throughput(), is_served }
    }
}

impl Loaded<'_> {
    /// `None` without an objective. Without runs if the server loses requests however few users it has.
    pub(super) async fn objective(
        &self,
        levels: &[Level],
    ) -> anyhow::Result<Option<ObjectiveSearch>> {
        let Some(objective) = self.triage.objective else { return Ok(None) };
        let served: Vec<_> = levels.iter().map(Level::served).collect();
        let Some(closed) = ClosedLoop::of(&served) else {
            return Ok(Some(not_searched(objective, peak(levels))));
        };
        let closed = if closed.grows { self.more_users(closed).await? } else { closed };
        let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64);
        let mut course = RateCourse::within(ALL, objective, closed, seed);
        if let Some(why) = why_long(std::slice::from_ref(&course)) {
            self.triage.progress.note(&paragraph(&why));
        }
        while let Some(rate) = course.next_rate() {
            let step = format!("{objective} at {} a second?", significant(rate));
            self.triage.progress.step(&step);
            let load = self.at_rate(&course, rate);
            // Too much memory ends it.
            let Some(outcome) = self.memory.during(generate(&load)).await.transpose()? else {
                break;
            };
            sleep(course.add(rate, &outcome)).await;
        }
        Ok(Some(course.end()))
    }

    /// What more users get, if the server serves them and the system allows as many connections.
    async fn more_users(&self, closed: ClosedLoop) -> anyhow::Result<ClosedLoop> {
        let per_user = self.triage.server.workload.load.connections;
        if lab_system::allow_connections(MORE_USERS * per_user).is_err() {
            return Ok(closed);
        }
        self.triage.progress.step(&format!("{MORE_USERS} users"));
        let visit = self.triage.server.visit_takes;
        let load = self.load(MORE_USERS, warm_up(visit), closed.length_of_more());
        // That so many can't connect is an answer, too.
        let outcome = self.memory.during(generate(&load)).await.transpose().ok().flatten();
        let more = outcome.map(|outcome| ServedLevel::of(MORE_USERS, &outcome));
        Ok(more.map_or(closed, |more| closed.with(more)))
    }

    fn at_rate(&self, course: &RateCourse, rate_per_s: f64) -> LoadPlan {
        let server = self.triage.server;
        let plan = course.plan(rate_per_s, server.visit_takes, server.workload.load.connections);
        let arrivals = Arrivals::OpenLoop(plan.arrivals);
        LoadPlan {
            server_pid: Some(self.pid),
            warm_up: plan.warm_up,
            measurement: plan.measurement,
            grace: plan.grace,
            ..LoadPlan::new(self.server.target(), server.requests.clone(), arrivals)
        }
    }
}

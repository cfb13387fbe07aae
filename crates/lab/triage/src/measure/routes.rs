//! Each request of a visit alone, and the functions of the one that costs most.

use std::time::Duration;

use anyhow::Context as _;
use lab_measure::{
    routes::{AloneLoad, MOST_ROUTES, Route, RouteRun, routes},
    watch::{Instruments, Watch},
};
use lab_observation::{Function, Profiler, ThreadStates};
use lab_profile::watch_threads;
use lab_protocol::{Arrivals, Load};

use super::{
    Triage, WATCHED,
    stages::{Loaded, WARM_UP},
};
use crate::{
    route_time::RouteTime,
    thresholds::{ENOUGH_SAMPLES, SAME},
};

const LENGTH: Duration = Duration::from_secs(1);
/// The load of a request alone.
const LOAD: Load = Load { users: WATCHED, think_ms: 0, connections: 1 };
/// How long the request that costs most is recorded.
const PROFILE: Duration = Duration::from_secs(2);
/// How many functions of it are named.
const FUNCTIONS: usize = 2;

/// How long a generator takes to start, at most.
const START: Duration = Duration::from_millis(150);

/// What was seen of a request that was loaded alone.
#[derive(Clone, Debug)]
pub struct LoadedRoute {
    pub run: RouteRun,
    /// What its time is, if the threads show it.
    pub time: Option<RouteTime>,
    /// The functions in which its CPU time is; only of the request that costs most, if others cost less.
    pub functions: Vec<Function>,
}

impl Triage<'_> {
    fn alone(&self) -> AloneLoad {
        AloneLoad::new(LOAD, [WARM_UP, LENGTH], self.server.visit_takes)
    }

    /// How long all routes take about.
    pub(super) fn routes_take(&self) -> Duration {
        match routes(&self.server.requests).len().min(MOST_ROUTES) {
            0 => Duration::ZERO,
            routes => self.alone().takes() * routes as u32 + PROFILE,
        }
    }
}

impl Loaded<'_> {
    /// `idle`: the threads without load. `asks`: whether the server has connections to other ones.
    pub(super) async fn routes(
        &self,
        profiler: Profiler,
        idle: Option<&ThreadStates>,
        asks: bool,
    ) -> anyhow::Result<Vec<LoadedRoute>> {
        let Triage { server, progress, .. } = *self.triage;
        let (mut found, visit) = (Vec::new(), routes(&server.requests));
        for route in visit.iter().take(MOST_ROUTES) {
            progress.step(&format!("{} alone", route.name));
            let Some((run, busy)) = self.memory.during(self.watched(route)).await else { break };
            let run = run.with_context(|| route.name.clone())?;
            let time =
                idle.zip(busy.as_ref()).and_then(|(idle, busy)| RouteTime::of(idle, busy, asks));
            found.push(LoadedRoute { run, time, functions: Vec::new() });
        }
        if cost_the_same(&found) {
            return Ok(found);
        }
        let costs = found.iter_mut().zip(&visit);
        let costs = costs.filter_map(|(found, route)| Some((found.run.cpu_us()?, found, route)));
        if let Some((_, found, route)) = costs.max_by(|one, other| one.0.total_cmp(&other.0)) {
            progress.step(&format!("recording {} alone", route.name));
            let functions = self.memory.during(self.functions_of(route, profiler)).await;
            found.functions = functions.unwrap_or_default();
        }
        Ok(found)
    }

    /// The load of a request alone, and the threads meanwhile, without the start and the end.
    async fn watched(&self, route: &Route) -> (anyhow::Result<RouteRun>, Option<ThreadStates>) {
        let alone = self.triage.alone();
        let threads = async {
            tokio::time::sleep(alone.warm_up + START).await;
            watch_threads(self.pid, alone.measurement.saturating_sub(START)).await
        };
        tokio::join!(route.load(self.server, self.pid, alone), threads)
    }

    /// In which functions the CPU time of one request is, if a profiler says so: its cost is known without them.
    async fn functions_of(&self, route: &Route, profiler: Profiler) -> Vec<Function> {
        let Triage { server, profilers, scratch, .. } = *self.triage;
        let window = PROFILE.max(3 * server.visit_takes);
        let watch =
            Watch { server, profilers, instruments: Instruments::default(), window, scratch };
        let usual = watch.plan(self.server.target(), self.pid, Arrivals::ClosedLoop(LOAD));
        let plan = route.only(usual);
        let seen = watch.under_load(profiler, "route", self.server.url(), plan).await;
        let recording = seen.ok().and_then(|seen| seen.recording);
        let enough = recording.filter(|recording| recording.samples >= ENOUGH_SAMPLES);
        enough.map_or(Vec::new(), |recording| recording.hottest(FUNCTIONS))
    }
}

/// Whether all requests cost about the same: then none is worth a recording of its own.
fn cost_the_same(routes: &[LoadedRoute]) -> bool {
    let costs: Vec<_> = routes.iter().filter_map(|route| route.run.cpu_us()).collect();
    let (least, most) = costs
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), cost| (least.min(*cost), most.max(*cost)));
    costs.len() > 1 && SAME * least >= most
}

#[cfg(test)]
mod tests {
    use lab_protocol::Outcome;

    use super::*;

    fn costing(us: u64) -> LoadedRoute {
        let outcome = Outcome {
            ok_in_time: 100,
            server_cpu: Some(Duration::from_micros(100 * us)),
            ..Outcome::default()
        };
        let run = RouteRun { route: format!("GET /{us}"), outcome };
        LoadedRoute { run, time: None, functions: Vec::new() }
    }

    #[test]
    fn requests_that_cost_the_same_are_not_recorded() {
        assert!(cost_the_same(&[100, 105, 110].map(costing)));
        assert!(!cost_the_same(&[100, 105, 112].map(costing)));
        assert!(!cost_the_same(&[costing(100)]), "no comparison");
    }
}

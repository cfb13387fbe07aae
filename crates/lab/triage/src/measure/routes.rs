//! Each request of a visit alone, and the functions of the one that costs most.

use std::time::Duration;

use anyhow::Context as _;
use lab_measure::{
    routes::{AloneLoad, MOST_ROUTES, Route, RouteRun, routes},
    watch::{Instruments, Watch},
};
use lab_observation::{Function, Profiler};
use lab_protocol::{Arrivals, Load};

use super::{
    Triage, WATCHED,
    stages::{Loaded, WARM_UP},
};
use crate::thresholds::ENOUGH_SAMPLES;

const LENGTH: Duration = Duration::from_secs(1);
/// The load of a request alone.
const LOAD: Load = Load { users: WATCHED, think_ms: 0, connections: 1 };
/// How long the request that costs most is recorded.
const PROFILE: Duration = Duration::from_secs(2);
/// How many functions of it are named.
const FUNCTIONS: usize = 2;

/// What was seen of a request that was loaded alone.
#[derive(Clone, Debug)]
pub struct LoadedRoute {
    pub run: RouteRun,
    /// The functions in which its CPU time is; only of the request that costs most.
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
    pub(super) async fn routes(&self, profiler: Profiler) -> anyhow::Result<Vec<LoadedRoute>> {
        let Triage { server, progress, .. } = *self.triage;
        let (mut found, visit) = (Vec::new(), routes(&server.requests));
        for route in visit.iter().take(MOST_ROUTES) {
            progress.step(&format!("{} alone", route.name));
            let load = route.load(self.server, self.pid, self.triage.alone());
            let run = self.memory.during(load).await.transpose();
            let Some(run) = run.with_context(|| route.name.clone())? else { break };
            found.push(LoadedRoute { run, functions: Vec::new() });
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

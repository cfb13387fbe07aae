//! Each request of a visit alone. While several kinds of requests are in a server, nobody can say which of them used
//! the CPU time.

use std::time::Duration;

use anyhow::Context as _;
use lab_measure::{
    bench::generate,
    request_names,
    watch::{Instruments, Watch},
};
use lab_observation::{Function, Profiler};
use lab_protocol::{Arrivals, Load, LoadPlan, Outcome, Request};

use super::{
    Level, Triage, WATCHED,
    stages::{Loaded, warm_up},
};
use crate::thresholds::ENOUGH_SAMPLES;

/// More requests than these aren't loaded alone.
pub const MOST_ROUTES: usize = 12;
const LENGTH: Duration = Duration::from_secs(1);

/// How long the request that costs most is recorded.
const PROFILE: Duration = Duration::from_secs(2);
/// How many functions of it are named.
const FUNCTIONS: usize = 2;
/// Answers without which a cost says little.
const ENOUGH: u64 = 10;

/// The load of one request alone.
#[derive(Clone, Debug)]
pub struct RouteRun {
    /// `GET /users`
    pub route: String,
    pub outcome: Outcome,
    /// The functions in which its CPU time is; only of the request that costs most.
    pub functions: Vec<Function>,
}

impl RouteRun {
    /// Answers that were wrong, failed or never came.
    pub fn faults(&self) -> u64 {
        self.outcome.wrong + self.outcome.failed + self.outcome.lost
    }

    /// The CPU time of a request in microseconds; `None` with faults, or with few answers.
    pub fn cpu_us(&self) -> Option<f64> {
        let is_enough = self.outcome.ok_in_time >= ENOUGH && self.faults() == 0;
        self.outcome.cpu_us_per_request().filter(|_| is_enough)
    }
}

impl Triage<'_> {
    /// How long all routes take about.
    pub(super) fn routes_take(&self) -> Duration {
        match alone(&self.server.requests).len() {
            0 | 1 => Duration::ZERO,
            routes => {
                let visit = self.server.visit_takes;
                let each = warm_up(visit) + self.route_length();
                each * routes.min(MOST_ROUTES) as u32 + PROFILE
            }
        }
    }

    /// A request takes no longer than a visit.
    fn route_length(&self) -> Duration {
        LENGTH.max(Level::fewest(WATCHED, self.server.visit_takes))
    }
}

/// The requests that can be loaded alone: all that aren't a login, unless one needs what another one's answer says.
fn alone(requests: &[Request]) -> Vec<Request> {
    let visit = Request::of_visit(requests);
    if visit.iter().all(|request| request.keep.is_empty()) { visit } else { Vec::new() }
}

impl Loaded<'_> {
    pub(super) async fn routes(&self, profiler: Profiler) -> anyhow::Result<Vec<RouteRun>> {
        let Triage { server, progress, .. } = *self.triage;
        let (mut routes, visit) = (Vec::new(), alone(&server.requests));
        if visit.len() < 2 {
            return Ok(routes);
        }
        for (request, route) in visit.iter().zip(request_names(&visit)).take(MOST_ROUTES) {
            progress.step(&format!("{route} alone"));
            let usual = self.load(WATCHED, warm_up(server.visit_takes), self.triage.route_length());
            let load = only(request, usual);
            let outcome = self.memory.during(generate(&load)).await.transpose();
            let Some(outcome) = outcome.with_context(|| route.clone())? else { break };
            routes.push(RouteRun { route, outcome, functions: Vec::new() });
        }
        let costs = routes.iter().zip(&visit).filter_map(|(run, request)| {
            run.cpu_us().map(|cost| (cost, run.route.clone(), request))
        });
        if let Some((_, route, request)) =
            costs.max_by(|(one, ..), (other, ..)| one.total_cmp(other))
        {
            progress.step(&format!("recording {route} alone"));
            let functions = self.memory.during(self.functions_of(request, profiler)).await;
            let run = routes.iter_mut().find(|run| run.route == route);
            run.into_iter().for_each(|run| run.functions = functions.clone().unwrap_or_default());
        }
        Ok(routes)
    }

    /// In which functions the CPU time of one request is, if a profiler says so: its cost is known without them.
    async fn functions_of(&self, request: &Request, profiler: Profiler) -> Vec<Function> {
        let Triage { server, profilers, scratch, .. } = *self.triage;
        let window = PROFILE.max(3 * server.visit_takes);
        let watch =
            Watch { server, profilers, instruments: Instruments::default(), window, scratch };
        let load = Load { users: WATCHED, think_ms: 0, connections: 1 };
        let usual = watch.plan(self.server.target(), self.pid, Arrivals::ClosedLoop(load));
        let plan = only(request, usual);
        let seen = watch.under_load(profiler, "route", self.server.url(), plan).await;
        let recording = seen.ok().and_then(|seen| seen.recording);
        let enough = recording.filter(|recording| recording.samples >= ENOUGH_SAMPLES);
        enough.map_or(Vec::new(), |recording| recording.hottest(FUNCTIONS))
    }
}

/// The load of this request alone, after what each user sends only once.
fn only(request: &Request, usual: LoadPlan) -> LoadPlan {
    let logins = usual.requests.iter().filter(|request| request.once);
    let requests = logins.chain([request]).cloned().collect();
    let load = Load { users: WATCHED, think_ms: 0, connections: 1 };
    LoadPlan { requests, arrivals: Arrivals::ClosedLoop(load), ..usual }
}

#[cfg(test)]
mod tests {
    use lab_protocol::{Answer, Keep};

    use super::*;

    #[test]
    fn a_login_is_no_route_and_what_needs_another_answer_is_never_alone() {
        let get = |path| Request::get(path, Answer::Any);
        let keep = [("token".to_owned(), Keep::Cookie("sid".to_owned()))];
        let login = Request { once: true, keep: keep.clone().into(), ..get("/login") };
        let visit = [login, get("/a"), get("/b")];
        assert_eq!(request_names(&alone(&visit)), ["GET /a", "GET /b"]);
        let order = Request { keep: keep.into(), ..get("/order") };
        assert!(alone(&[order, get("/orders/1")]).is_empty());
    }
}

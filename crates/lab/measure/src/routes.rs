//! Each request of a visit alone. While several kinds of requests are in a server, nobody can say which of them used
//! the CPU time.

use std::time::Duration;

use lab_load::request_names;
use lab_protocol::{Arrivals, Load, LoadPlan, Outcome, Request};
use lab_servers::Server;

use crate::{bench::generate, watch::window};

/// More requests than these aren't loaded alone.
pub const MOST_ROUTES: usize = 12;
/// Answers without which a cost says little.
const ENOUGH: u64 = 10;
/// How long the last answers may take, from a server that isn't slow.
const GRACE: Duration = Duration::from_millis(500);

/// A request of a visit that can be loaded alone.
#[derive(Clone, Debug)]
pub struct Route {
    /// `GET /users`
    pub name: String,
    /// What each user sends only once, and then this request.
    requests: Vec<Request>,
}

/// How each request is loaded alone.
#[derive(Clone, Copy, Debug)]
pub struct AloneLoad {
    load: Load,
    pub warm_up: Duration,
    pub measurement: Duration,
    grace: Duration,
}

/// The load of one request alone.
#[derive(Clone, Debug)]
pub struct RouteRun {
    /// `GET /users`
    pub route: String,
    pub outcome: Outcome,
}

/// The requests that can be loaded alone, in the order of a visit: all that aren't a login. None if a visit has only
/// one, or if one needs what another one's answer says.
pub fn routes(requests: &[Request]) -> Vec<Route> {
    let visit = Request::of_visit(requests);
    if visit.len() < 2 || visit.iter().any(|request| !request.keep.is_empty()) {
        return Vec::new();
    }
    let logins: Vec<_> = requests.iter().filter(|request| request.once).cloned().collect();
    let route = |(name, request): (String, &Request)| {
        let requests = logins.iter().chain([request]).cloned().collect();
        Route { name, requests }
    };
    request_names(&visit).into_iter().zip(&visit).map(route).collect()
}

impl AloneLoad {
    /// The usual warm-up and measurement, longer if a visit takes long that meets no other: a request takes no longer
    /// than that.
    pub fn new(load: Load, [warm_up, measurement]: [Duration; 2], visit_takes: Duration) -> Self {
        // Half a visit longer than the answers take, so that the last one comes in time.
        let enough = window(Duration::ZERO, visit_takes, load.users) + visit_takes / 2;
        Self {
            // A user opens one connection for each request at a time.
            load: Load { connections: 1, ..load },
            // One visit comes before it, and all users begin within the time of another one.
            warm_up: warm_up.max(visit_takes + visit_takes / 5),
            measurement: measurement.max(enough),
            grace: GRACE.max(2 * visit_takes),
        }
    }

    /// How long it takes about, without the start of the generator.
    pub fn takes(&self) -> Duration {
        self.warm_up + self.measurement
    }
}

impl Route {
    /// This load with this request alone.
    pub fn only(&self, usual: LoadPlan) -> LoadPlan {
        LoadPlan { requests: self.requests.clone(), ..usual }
    }

    /// The load of this request alone on a running server, whose process has the CPU time.
    pub fn plan(&self, server: &Server, pid: u32, alone: AloneLoad) -> LoadPlan {
        let AloneLoad { load, warm_up, measurement, grace } = alone;
        LoadPlan {
            server_pid: Some(pid),
            warm_up,
            measurement,
            grace,
            ..LoadPlan::new(server.target(), self.requests.clone(), Arrivals::ClosedLoop(load))
        }
    }

    /// Loads this request alone.
    ///
    /// # Errors
    ///
    /// If the generator fails; faults of the server are counted in the outcome.
    pub async fn load(
        &self,
        server: &Server,
        pid: u32,
        alone: AloneLoad,
    ) -> anyhow::Result<RouteRun> {
        let outcome = generate(&self.plan(server, pid, alone)).await?;
        Ok(RouteRun { route: self.name.clone(), outcome })
    }
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

#[cfg(test)]
mod tests {
    use lab_protocol::{Answer, Keep};

    use super::*;

    fn get(path: &str) -> Request {
        Request::get(path, Answer::Any)
    }

    #[test]
    fn a_login_is_no_route_and_what_needs_another_answer_is_never_alone() {
        let keep = [("token".to_owned(), Keep::Cookie("sid".to_owned()))];
        let login = Request { once: true, keep: keep.clone().into(), ..get("/login") };
        let visit = routes(&[login, get("/a"), get("/b")]);
        let names: Vec<_> = visit.iter().map(|route| &*route.name).collect();
        assert_eq!(names, ["GET /a", "GET /b"]);
        let paths = |route: &Route| -> Vec<_> {
            route.requests.iter().map(|request| request.path.clone()).collect()
        };
        assert_eq!(paths(&visit[1]), ["/login", "/b"]);
        let order = Request { keep: keep.into(), ..get("/order") };
        assert!(routes(&[order, get("/orders/1")]).is_empty());
        assert!(routes(&[get("/a")]).is_empty(), "it is alone anyway");
    }

    #[test]
    fn a_slow_server_is_loaded_for_three_answers_of_each_user() {
        let load = Load { users: 16, think_ms: 0, connections: 4 };
        let usual = [400, 1000].map(Duration::from_millis);
        let fast = AloneLoad::new(load, usual, Duration::from_millis(2));
        assert_eq!([fast.warm_up, fast.measurement], usual);
        let slow = AloneLoad::new(load, usual, Duration::from_secs(2));
        assert_eq!([slow.warm_up, slow.measurement], [2400, 7000].map(Duration::from_millis));
        assert_eq!((slow.load.connections, slow.grace), (1, Duration::from_secs(4)));
    }
}

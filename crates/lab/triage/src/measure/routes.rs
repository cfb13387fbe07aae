//! Each request of a visit alone. While several kinds of requests are in a server, nobody can say which of them used
//! the CPU time.

use std::time::Duration;

use anyhow::Context as _;
use lab_measure::bench::generate;
use lab_protocol::{Arrivals, Load, LoadPlan, Outcome, Request};
use lab_system::without_secrets;

use super::{
    Level, Triage, WATCHED,
    stages::{Loaded, warm_up},
};

/// More requests than these aren't loaded alone.
pub const MOST_ROUTES: usize = 12;
const LENGTH: Duration = Duration::from_secs(1);

/// The load of one request alone.
#[derive(Clone, Debug)]
pub struct RouteRun {
    /// `GET /users`
    pub route: String,
    pub outcome: Outcome,
}

impl Triage<'_> {
    /// How long all routes take about.
    pub(super) fn routes_take(&self) -> Duration {
        match alone(&self.server.requests).len() {
            0 | 1 => Duration::ZERO,
            routes => {
                let visit = self.server.visit_takes;
                (warm_up(visit) + self.route_length()) * routes.min(MOST_ROUTES) as u32
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
    let visit: Vec<_> = requests.iter().filter(|request| !request.once).cloned().collect();
    if visit.iter().all(|request| request.keep.is_empty()) { visit } else { Vec::new() }
}

/// The method and the path of each request, without the values of parameters. Of several that look the same, each also
/// has its place in the visit.
fn names(requests: &[Request]) -> Vec<String> {
    let name = |request: &Request| format!("{} {}", request.method, without_secrets(&request.path));
    let names: Vec<_> = requests.iter().map(name).collect();
    let is_unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let shown = |(nth, name): (usize, &String)| {
        if is_unique(name) { name.clone() } else { format!("{}: {name}", nth + 1) }
    };
    names.iter().enumerate().map(shown).collect()
}

impl Loaded<'_> {
    pub(super) async fn routes(&self) -> anyhow::Result<Vec<RouteRun>> {
        let Triage { server, progress, .. } = *self.triage;
        let (mut routes, visit) = (Vec::new(), alone(&server.requests));
        if visit.len() < 2 {
            return Ok(routes);
        }
        let logins = server.requests.iter().filter(|request| request.once);
        for (request, route) in visit.iter().zip(names(&visit)).take(MOST_ROUTES) {
            progress.step(&format!("{route} alone"));
            let usual = self.load(WATCHED, warm_up(server.visit_takes), self.triage.route_length());
            let load = LoadPlan {
                requests: logins.clone().chain([request]).cloned().collect(),
                arrivals: Arrivals::ClosedLoop(Load {
                    users: WATCHED,
                    think_ms: 0,
                    connections: 1,
                }),
                ..usual
            };
            let outcome = self.memory.during(generate(&load)).await.transpose();
            let Some(outcome) = outcome.with_context(|| route.clone())? else { break };
            routes.push(RouteRun { route, outcome });
        }
        Ok(routes)
    }
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
        assert_eq!(names(&alone(&visit)), ["GET /a", "GET /b"]);
        let order = Request { keep: keep.into(), ..get("/order") };
        assert!(alone(&[order, get("/orders/1")]).is_empty());
    }

    #[test]
    fn requests_that_differ_only_in_their_parameters_have_a_number() {
        let paths = ["/", "/feed?most=2", "/feed?most=900"];
        let names = names(&paths.map(|path| Request::get(path, Answer::Any)));
        assert_eq!(names, ["GET /", "2: GET /feed?most=…", "3: GET /feed?most=…"]);
    }
}

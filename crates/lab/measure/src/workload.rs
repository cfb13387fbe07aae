//! The load of each server of an experiment: users, arrivals, and the requests of other clients.

use lab_cases::{Case, TimedRequest};
use lab_protocol::{Arrivals, Background, Http2, Load, OpenLoop, Request, Spacing};
use lab_report::plural;
use lab_servers::Launch;

/// The rate of the open loop, as a share of the slowest server's capacity.
const SHARE_OF_CAPACITY: f64 = 0.5;
/// The minimum and maximum number of users in the open loop: enough that arrivals do not wait for a
/// server that keeps up, and few enough that no server is overrun.
pub(crate) const OPEN_LOOP_USERS: (usize, usize) = (8, 64);

#[derive(Clone, Debug)]
pub struct Workload {
    /// The name of a visit in the tables, such as `request` or `page`.
    pub visit: String,
    pub load: Load,
    /// The arrivals per second of the open loop, if that is fixed.
    pub arrivals_per_s: Option<f64>,
    /// Requests of other clients next to the load, each with its rate per second.
    pub background: Vec<(f64, Request)>,
}

impl Workload {
    /// Requests of these users alone.
    pub fn of_users(load: Load) -> Self {
        Self { visit: "request".to_owned(), load, arrivals_per_s: None, background: Vec::new() }
    }

    /// The requests of a visit to the servers of a case, and what is sent besides.
    ///
    /// # Errors
    ///
    /// If the system doesn't allow as many connections.
    pub fn of_case(case: &Case) -> anyhow::Result<(Vec<Request>, Self)> {
        let connections = case.load.users * case.load.connections;
        lab_system::allow_connections(connections + OPEN_LOOP_USERS.1 * case.requests.len())?;
        let (mut own, mut background) = (Vec::new(), Vec::new());
        for TimedRequest { request, rate_per_s } in case.requests.iter().cloned() {
            match rate_per_s {
                None => own.push(request),
                Some(rate) => background.push((rate, request)),
            }
        }
        let (visit, arrivals_per_s) = (case.visit.clone(), case.arrivals_per_s);
        Ok((own, Self { visit, load: case.load, arrivals_per_s, background }))
    }

    /// The load in words, such as `3,000 users, 0.5 s between requests`. A visit has so many requests. `servers` are those
    /// under this load.
    pub fn describe<'a>(
        &self,
        requests: usize,
        servers: impl Iterator<Item = &'a Launch>,
    ) -> String {
        let users = plural(self.load.users, "user");
        let connections = match self.load.connections {
            1 => String::new(),
            connections => format!(" with {}", plural(connections, "connection")),
        };
        let pause = match self.load.think_ms {
            0 => "without a pause".to_owned(),
            pause => format!("{} s between requests", pause as f64 / 1e3),
        };
        let visit = match requests {
            1 => String::new(),
            requests => format!(", {} per visit", plural(requests, "request")),
        };
        let next_to = |(rate, request): &(f64, Request)| {
            format!(", next to {rate} {} {} per second", request.method, request.path)
        };
        let others: String = self.background.iter().map(next_to).collect();
        let protocol = protocol(servers);
        let closed = format!("{users}{connections}, {pause}{visit}{protocol}");
        match self.arrivals_per_s {
            None => format!("{closed}{others}"),
            Some(rate) => format!("{rate} arrivals per second (closed loop: {closed}){others}"),
        }
    }

    /// The load under which servers are watched.
    pub fn arrivals(&self) -> Arrivals {
        match self.arrivals_per_s {
            Some(rate) => Arrivals::OpenLoop(self.open_loop(rate, Spacing::default())),
            None => Arrivals::ClosedLoop(self.load),
        }
    }

    /// Arrivals at half of this capacity, so that every server keeps up and their latencies are
    /// comparable; or at the rate that is given.
    pub fn open_loop(&self, capacity: f64, spacing: Spacing) -> OpenLoop {
        let users = self.load.users.clamp(OPEN_LOOP_USERS.0, OPEN_LOOP_USERS.1);
        let rate_per_s = self.arrivals_per_s.unwrap_or(capacity * SHARE_OF_CAPACITY);
        let connections_per_user = self.load.connections;
        let load = OpenLoop::new(rate_per_s, users * connections_per_user);
        OpenLoop { connections_per_user, spacing, ..load }
    }

    /// The requests of other clients: not at the moments of the open loop, which has this spacing.
    pub fn background(&self, spacing: Spacing) -> Vec<Background> {
        let mut background = Vec::new();
        for (nth, (rate_per_s, request)) in self.background.iter().enumerate() {
            let arrivals = OpenLoop::new(*rate_per_s, OPEN_LOOP_USERS.1);
            let arrivals = OpenLoop { spacing: spacing.nth(nth), ..arrivals };
            background.push(Background { arrivals, request: request.clone() });
        }
        background
    }
}

/// Which servers are asked in HTTP/2, in words.
fn protocol<'a>(servers: impl Iterator<Item = &'a Launch>) -> String {
    let (http2, http1): (Vec<_>, Vec<_>) = servers.partition(|launch| launch.http2.is_some());
    let names: Vec<_> = http2.iter().map(|launch| launch.name.as_str()).collect();
    let streams = match http2.iter().find_map(|launch| launch.http2) {
        Some(Http2 { streams }) if streams > 1 => format!(" with {streams} streams a connection"),
        _ => String::new(),
    };
    match (names.is_empty(), http1.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(", over HTTP/2{streams}"),
        (false, false) => format!(", {} over HTTP/2{streams}", names.join(" and ")),
    }
}

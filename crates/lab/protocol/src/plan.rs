//! A load plan: which requests a run sends, when, and for how long.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::PathBuf,
    time::Duration,
};

use lab_stats::SplitMix64;
use serde::{Deserialize, Serialize};

use super::{Answer, Expected, Keep, VisitKind, seconds};

/// The input of an engine, as one line of JSON; `docs/src/engines.md` describes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LoadPlan {
    pub target: Target,
    /// The server's process, if it can be seen. Its CPU time is read when the measurement starts and
    /// when it ends.
    pub server_pid: Option<u32>,
    pub arrivals: Arrivals,
    #[serde(rename = "warm_up_s", with = "seconds")]
    pub warm_up: Duration,
    #[serde(rename = "measurement_s", with = "seconds")]
    pub measurement: Duration,
    /// How long requests in flight may take to finish after the measurement.
    #[serde(rename = "grace_s", with = "seconds")]
    pub grace: Duration,
    /// The requests of one visit; empty if there are several kinds of visits.
    #[serde(default)]
    pub requests: Vec<Request>,
    /// The seed of what the requests draw.
    #[serde(default)]
    pub seed: u64,
    /// The kinds of visits that an open loop draws from, instead of `requests`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<VisitKind>,
    /// The condition that ends an open loop early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_when: Option<StopWhen>,
    /// The requests of other clients, which are sent during the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
    #[serde(default)]
    pub options: EngineOptions,
}

impl LoadPlan {
    /// A plan without lengths, background requests and options.
    pub fn new(target: Target, requests: Vec<Request>, arrivals: Arrivals) -> Self {
        Self {
            target,
            server_pid: None,
            arrivals,
            warm_up: Duration::ZERO,
            measurement: Duration::ZERO,
            grace: Duration::ZERO,
            requests,
            seed: 0,
            visits: Vec::new(),
            stop_when: None,
            background: Vec::new(),
            options: EngineOptions::default(),
        }
    }

    /// An open loop that draws its visits, without lengths and options.
    pub fn of_visits(target: Target, visits: Vec<VisitKind>, load: OpenLoop) -> Self {
        Self { visits, ..Self::new(target, Vec::new(), Arrivals::OpenLoop(load)) }
    }

    /// How many connections it has open at a time; fewer, if some are streams of one.
    pub fn connections(&self) -> usize {
        let own = match self.arrivals {
            Arrivals::ClosedLoop(load) => load.users * load.connections,
            Arrivals::OpenLoop(load) => load.connections,
        };
        own + self.background.iter().map(|other| other.arrivals.connections).sum::<usize>()
    }
}

/// The condition that ends a run early. Grace follows as usual.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopWhen {
    /// An answer was wrong.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wrong: bool,
}

/// A request that other clients send at random, next to the load. Of its answers only the faults are in
/// the outcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Background {
    pub arrivals: OpenLoop,
    pub request: Request,
}

/// Where requests go: an address, and what a server behind a name needs besides.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Target {
    pub address: SocketAddr,
    /// The `host` header.
    pub host: String,
    /// The name in the server's certificate, if it speaks TLS.
    pub tls: Option<String>,
    /// HTTP/2 instead of HTTP/1.1, if this is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2>,
}

/// How connections speak HTTP/2.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Http2 {
    /// How many of the plan's connections are streams of one connection, each with a request at a time.
    #[serde(default = "one")]
    pub streams: usize,
}

impl Default for Http2 {
    /// A connection for each user, as in HTTP/1.1.
    fn default() -> Self {
        Self { streams: 1 }
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), tls: None, http2: None }
    }
}

/// Options that only some engines support. Absent options are not written, and an engine refuses options that it
/// doesn't support.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineOptions {
    /// How many processes make the load, below one that adds up their figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u16>,
    /// Where to wait for these workers, if they come from other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<Ipv4Addr>,
    /// Whether to acknowledge every segment at once, instead of up to 40 ms later. Only in HTTP/1.1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quick_ack: bool,
    /// Whether each visit is only one of the requests, in turn over all users.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// After the previous answer: the server sets the pace.
    ClosedLoop(Load),
    /// On schedule, whatever the server does.
    OpenLoop(OpenLoop),
}

/// A closed loop: each user sends the next request once the previous one is answered.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub users: usize,
    /// Milliseconds that a user pauses between an answer and the next request.
    #[serde(default)]
    pub think_ms: u64,
    /// Connections of one user.
    #[serde(default = "one")]
    pub connections: usize,
}

/// Arrivals at a mean rate that is constant or rises, like a crowd of independent users.
///
/// An arrival that finds all connections busy waits in the arrival queue. Its latency counts from
/// the moment it was due, so a stall is charged for everyone who arrives during it, and not only for
/// the requests already sent. This avoids *coordinated omission* (Gil Tene).
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Arrivals per second; each makes a whole visit.
    pub rate_per_s: f64,
    /// How many seconds it takes the rate to double, again and again, from the begin of the warm-up. The
    /// rate is constant if this is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubles_every_s: Option<f64>,
    /// Connections that arrivals share.
    pub connections: usize,
    /// Connections that one visit uses in parallel.
    #[serde(default = "one")]
    pub connections_per_user: usize,
    #[serde(default)]
    pub spacing: Spacing,
}

/// The gaps between the arrivals of an open loop.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Random, as between independent users (a Poisson process). The same seed makes the same
    /// schedule, so both servers of a pair get the same arrivals.
    Random { seed: u64 },
    /// All the same. A server that answers one arrival before the next never has a queue, however
    /// badly it would handle two at once.
    Even,
}

impl Spacing {
    /// Other arrivals of the same kind: those of the `nth` round in a session that has this seed.
    pub fn nth(self, nth: usize) -> Self {
        match self {
            Self::Random { seed } => Self::Random { seed: SplitMix64(seed).seed_of(nth) },
            Self::Even => Self::Even,
        }
    }

    /// The seed of random arrivals.
    pub fn seed(self) -> Option<u64> {
        match self {
            Self::Random { seed } => Some(seed),
            Self::Even => None,
        }
    }
}

impl Default for Spacing {
    fn default() -> Self {
        Self::Random { seed: 1 }
    }
}

impl OpenLoop {
    /// The accepted rates: from four arrivals in an hour to ten times what one core can send.
    pub const RATES_PER_S: RangeInclusive<f64> = 1e-3..=1e6;

    /// Random arrivals at a constant mean rate, each over one connection.
    pub fn new(rate_per_s: f64, connections: usize) -> Self {
        Self {
            rate_per_s,
            doubles_every_s: None,
            connections,
            connections_per_user: 1,
            spacing: Spacing::default(),
        }
    }

    /// The mean rate, so many seconds after the begin of the load.
    pub fn rate_after(self, seconds: f64) -> f64 {
        let doublings = self.doubles_every_s.map_or(0.0, |every_s| seconds / every_s);
        self.rate_per_s * doublings.exp2()
    }

    /// The mean number of arrivals from the begin of the load until so many seconds later.
    pub fn arrivals_until(self, seconds: f64) -> f64 {
        match self.growth_per_s() {
            Some(growth) => self.rate_per_s * (growth * seconds).exp_m1() / growth,
            None => self.rate_per_s * seconds,
        }
    }

    /// When this mean number of arrivals is reached, in seconds: the inverse of [`Self::arrivals_until`].
    #[inline]
    pub fn time_of(self, arrivals: f64) -> f64 {
        match self.growth_per_s() {
            Some(growth) => (growth * arrivals / self.rate_per_s).ln_1p() / growth,
            None => arrivals / self.rate_per_s,
        }
    }

    /// The rate is `rate_per_s * exp(growth * seconds)`.
    #[inline]
    fn growth_per_s(self) -> Option<f64> {
        self.doubles_every_s.map(|every_s| std::f64::consts::LN_2 / every_s)
    }

    /// How many visits can be in flight.
    pub fn users(self) -> usize {
        self.connections / self.connections_per_user
    }
}

fn one() -> usize {
    1
}

/// A request, and the answer that it must get.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// The file that holds the body.
    #[serde(rename = "body_file")]
    pub body: Option<PathBuf>,
    pub expected: Expected,
    /// Whether path, headers and body have slots that are filled for each visit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_slots: bool,
    /// What the user keeps of the answer for the slots of later requests, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep: BTreeMap<String, Keep>,
    /// Whether each user sends it only once, before the first visit, as a login.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

impl Request {
    /// A `GET` of `path` that must succeed with this answer.
    pub fn get(path: &str, answer: Answer) -> Self {
        Self {
            method: "GET".to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: None,
            expected: Expected::new(200, answer),
            has_slots: false,
            keep: BTreeMap::new(),
            once: false,
        }
    }

    /// The requests of each visit: all but those that a user sends only once.
    pub fn of_visit(requests: &[Self]) -> Vec<Self> {
        requests.iter().filter(|request| !request.once).cloned().collect()
    }

    /// Whether it is the same for every user and visit.
    pub fn is_fixed(&self) -> bool {
        !self.has_slots && !self.once && self.keep.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_doubles_has_exact_times() {
        let load = OpenLoop { doubles_every_s: Some(2.0), ..OpenLoop::new(100.0, 1) };
        assert_eq!([0.0, 2.0, 6.0].map(|after| load.rate_after(after)), [100.0, 200.0, 800.0]);
        // The integral of the rate: 100 * 2 / ln 2 in the first period, and twice as many in each next one.
        let first = load.arrivals_until(2.0);
        assert!((first - 288.539).abs() < 0.001, "{first}");
        assert!((load.arrivals_until(4.0) / first - 3.0).abs() < 1e-9);
        assert!((load.time_of(load.arrivals_until(5.5)) - 5.5).abs() < 1e-9);
        let steady = OpenLoop::new(100.0, 1);
        assert_eq!((steady.rate_after(9.0), steady.arrivals_until(9.0)), (100.0, 900.0));
    }

    #[test]
    fn each_pair_of_a_session_has_arrivals_of_its_own() {
        let of = |seed, nth| Spacing::Random { seed }.nth(nth);
        let pairs: Vec<_> = (0..100).map(|pair| of(7, pair).seed()).collect();
        assert!(pairs.iter().all(|seed| pairs.iter().filter(|other| *other == seed).count() == 1));
        assert_eq!(pairs[3], of(7, 3).seed(), "the session's seed determines them");
        assert_ne!(pairs[3], of(8, 3).seed());
        assert_eq!(Spacing::Even.nth(3), Spacing::Even);
    }
}

//! What the generator is asked to do.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::Context as _;
use hyper::Uri;
use serde::{Deserialize, Serialize};

use super::Expected;

/// A whole job for the generator.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// Where the server listens.
    pub target: SocketAddr,
    /// The server's process, whose CPU time is read at both ends of the measurement.
    pub server_pid: u32,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// How long the load runs before anything counts.
    pub warm_up: Duration,
    /// How long requests count.
    pub measurement: Duration,
    /// How long the last requests may take after that.
    pub grace: Duration,
    /// What a user asks in one go.
    pub asks: Vec<Ask>,
    /// Whether the generator keeps to one core; the caller starts the server
    /// on the other ones.
    #[serde(default)]
    pub pin: bool,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// When the last answer has come: the server sets the pace.
    ClosedLoop(Load),
    /// When it is time, whatever the server does.
    OpenLoop(OpenLoop),
}

/// A closed loop: each user sends the next request once the last one is answered.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// How many ask at the same time.
    pub users: usize,
    /// Milliseconds that a user waits between an answer and the next request.
    #[serde(default)]
    pub think_ms: u64,
    /// Connections of one user.
    #[serde(default = "one")]
    pub connections: usize,
}

impl Load {
    /// How long a user waits between an answer and the next request.
    pub fn think(self) -> Duration {
        Duration::from_millis(self.think_ms)
    }
}

/// Arrivals at a constant rate: what a crowd does whose members know nothing of each other.
///
/// An arrival that finds all connections busy waits in line, and its latency counts from the moment
/// that it was due. So a server that stalls is charged for all who arrive in the meantime, and not
/// only for those whom it had kept waiting already (Gil Tene's *coordinated omission*).
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Arrivals per second; each loads a whole page.
    pub rate_per_s: f64,
    /// Connections that arrivals share.
    pub connections: usize,
    /// Connections that one arrival uses at a time, where a page has several requests.
    #[serde(default = "one")]
    pub connections_per_user: usize,
}

impl OpenLoop {
    /// The highest rate that is accepted: ten times what one core can send.
    pub const MOST_PER_S: f64 = 1e6;

    /// How many arrivals can be served at a time.
    pub fn users(self) -> usize {
        self.connections / self.connections_per_user.max(1)
    }
}

fn one() -> usize {
    1
}

/// One request as it goes over the wire, and the answer to hold against it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ask {
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers by name.
    pub headers: Vec<(String, String)>,
    /// The file that holds the body.
    pub body: Option<PathBuf>,
    /// The right answer.
    pub expected: Expected,
}

/// The address behind a URL such as `http://127.0.0.1:8080/`.
pub fn address(url: &Uri) -> anyhow::Result<SocketAddr> {
    let authority = url.authority().with_context(|| format!("`{url}` names no server"))?;
    authority
        .as_str()
        .parse()
        .with_context(|| format!("`{authority}` is not an IP address and port"))
}

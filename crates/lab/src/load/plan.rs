//! What the generator is asked to do.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::Context as _;
use hyper::Uri;
use serde::{Deserialize, Serialize};

use super::Expected;
use crate::case::Load;

/// A whole job for the generator.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// Where the server listens.
    pub target: SocketAddr,
    /// The server's process, whose CPU time is read at both ends of the measurement.
    pub server_pid: u32,
    /// Who asks, and how often.
    pub load: Load,
    /// How long the load runs before anything counts.
    pub warm_up: Duration,
    /// How long requests count.
    pub measurement: Duration,
    /// How long the last requests may take after that.
    pub grace: Duration,
    /// What a user asks in one go.
    pub asks: Vec<Ask>,
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

//! An HTTPS client built for every request: each request loads the store of certificate
//! authorities again, opens a connection of its own, and throws both away.
//!
//! The service is a reverse proxy in front of an HTTPS site, which [`upstream`] serves. Read
//! [`slow`], then `diff src/slow.rs src/fixed.rs`. Two costs go away at once there; [`steps`] takes
//! them apart. Here is only what all variants share and the lesson does not touch.
//!
//! A connection that a variant closes stays in `TIME_WAIT` for a minute and keeps a port of the
//! machine, towards one port of the upstream: 19 for each page that slow loads. That is why every
//! measurement starts an upstream of its own, on a port of its own. (On the loopback Linux lends
//! such a port out again after a second. Between two machines it does not, and a proxy that opens
//! more than some 450 connections a second to one upstream runs out of ports.)

mod failure;
pub mod fixed;
mod forward;
pub mod slow;
pub mod steps;
pub mod upstream;

use std::{io, time::Duration};

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};

pub use failure::Failure;
pub use forward::{Proxied, Upstream};

/// How long a connection to the upstream may take to be opened.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens connections: TCP, then TLS. It owns the store of certificate authorities.
pub type Connector = HttpsConnector<HttpConnector>;
/// Sends requests. It owns the pool of open connections.
pub type HttpsClient = Client<Connector, Proxied>;

/// The case's own flags.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Address of the upstream, such as https://127.0.0.1:8443
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,

    /// Milliseconds that the upstream has for connecting and for the head of its answer, and then
    /// for each piece of the body
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    upstream_timeout_ms: u64,
}

impl Options {
    /// The upstream to forward to, or what is wrong with it and how to start one.
    pub fn upstream(&self) -> anyhow::Result<Upstream> {
        let url = self.upstream.as_deref().unwrap_or_default();
        Upstream::new(url, Duration::from_millis(self.upstream_timeout_ms))
    }
}

/// Loads the system's certificate authorities, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR`
/// name, and prepares TLS with them. Never inlined, so that a profile shows it by name.
#[inline(never)]
pub fn connector() -> io::Result<Connector> {
    let mut http = HttpConnector::new();
    // TLS comes on top of what this connector opens.
    http.enforce_http(false);
    // Without it a request in two writes waits for the upstream's delayed acknowledgement.
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));

    // HTTP/2 would put all requests on one connection and hide what this case counts.
    let tls = HttpsConnectorBuilder::new().with_native_roots()?;
    Ok(tls.https_only().enable_http1().wrap_connector(http))
}

//! A reverse proxy in front of an HTTPS site.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. The fix removes two costs at once; [`steps`]
//! removes them one by one. All variants share the rest of this crate.

mod failure;
pub mod fixed;
mod forward;
pub mod slow;
pub mod steps;

use std::{io, time::Duration};

use bytes::Bytes;
use http_body_util::Empty;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};

pub use failure::Failure;
pub use forward::Upstream;

/// Opens connections: TCP, then TLS. It owns the certificate authorities.
pub type Connector = HttpsConnector<HttpConnector>;
/// Sends requests. It owns the pool of open connections.
pub type HttpsClient = Client<Connector, Empty<Bytes>>;

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Address of the upstream, such as https://127.0.0.1:8443
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    upstream: String,

    /// Milliseconds to wait for the head of an answer, and for each piece of its body
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    upstream_timeout_ms: u64,
}

impl Options {
    pub fn upstream(&self) -> anyhow::Result<Upstream> {
        Upstream::new(&self.upstream, Duration::from_millis(self.upstream_timeout_ms))
    }
}

/// Loads the system's certificate authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`. Not
/// inlined, so that a profile shows it under its own name.
#[inline(never)]
pub fn connector() -> io::Result<Connector> {
    let mut http = HttpConnector::new();
    // Accept `https` URIs too: the TLS connector wraps this one.
    http.enforce_http(false);
    // Without this, a request in two writes waits for the upstream's delayed acknowledgement.
    http.set_nodelay(true);

    // HTTP/2 would put all requests on one connection and hide what this case counts.
    let tls = HttpsConnectorBuilder::new().with_native_roots()?;
    Ok(tls.https_or_http().enable_http1().wrap_connector(http))
}

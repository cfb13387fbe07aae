//! A reverse proxy in front of an HTTPS site.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. The fix removes two costs at once; [`steps`]
//! removes them one by one. All variants share the rest of this crate.

pub mod fixed;
mod forward;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
#[expect(clippy::disallowed_methods, reason = "the fault that this case is about")]
pub mod slow;
pub mod steps {
    //! The two changes between slow and fixed, each measured alone.

    pub mod no_reuse;
    pub mod shared_connector;
}

use std::io;

use bytes::Bytes;
use http_body_util::Empty;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};

pub use forward::{Failure, Upstream};

/// Opens connections: TCP, then TLS. It owns the certificate authorities.
pub type Connector = HttpsConnector<HttpConnector>;
/// Sends requests. It owns the pool of open connections.
pub type HttpsClient = Client<Connector, Empty<Bytes>>;

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

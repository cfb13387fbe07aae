//! Forwards one request, in the same way for every variant.

use std::time::Duration;

use anyhow::Context as _;
use axum::{
    body::{Body, HttpBody as _},
    extract::Request,
    http::{
        HeaderMap, Method, StatusCode, Uri, Version, header,
        uri::{Authority, PathAndQuery, Scheme},
    },
    response::Response,
};
use bytes::Bytes;
use http_body_util::Empty;
use tokio::time::timeout;
use tower_http::timeout::TimeoutBody;

use crate::{Failure, HttpsClient};

/// Headers that belong to one connection, not to the message.
const HOP_BY_HOP: &str = "connection keep-alive proxy-authenticate proxy-authorization \
                          proxy-connection te transfer-encoding upgrade";

/// Where requests are forwarded to.
#[derive(Clone, Debug)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    timeout: Duration,
}

impl Upstream {
    /// The upstream at `url`, which is `https://HOST:PORT`, or `http://HOST:PORT` to compare the proxy
    /// with others that have no TLS. `timeout` limits the wait for the head of an answer, and for every
    /// piece of its body.
    pub fn new(url: &str, timeout: Duration) -> anyhow::Result<Self> {
        let (scheme, authority) = match url.strip_prefix("http://") {
            Some(authority) => (Scheme::HTTP, Some(authority)),
            None => (Scheme::HTTPS, url.strip_prefix("https://")),
        };
        let authority = authority.and_then(|authority| authority.parse().ok());
        let authority =
            authority.filter(|authority: &Authority| !authority.as_str().contains('@')).context(
                "the proxy needs `--upstream https://127.0.0.1:PORT`; start an upstream with \
                 `cargo run --release --bin tls-site`, which prints its address",
            )?;
        Ok(Self { scheme, authority, timeout })
    }

    /// Sends `request` to the upstream through `client`, and streams the answer back. The proxy
    /// forwards only what a page load needs: GET and HEAD, without a body.
    pub async fn forward(
        &self,
        client: &HttpsClient,
        request: Request,
    ) -> Result<Response, Failure> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Failure(StatusCode::METHOD_NOT_ALLOWED, "use GET or HEAD\n"));
        }
        if !request.body().is_end_stream() {
            return Err(Failure(StatusCode::PAYLOAD_TOO_LARGE, "no body is forwarded\n"));
        }
        let (mut head, _) = request.into_parts();
        let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        head.uri = uri.path_and_query(path).build()?;
        // The upstream closes the connection after an answer to HTTP/1.0.
        head.version = Version::HTTP_11;
        strip_hop_by_hop(&mut head.headers);
        // The client adds a `host` header with the upstream's name.
        head.headers.remove(header::HOST);
        let request = Request::from_parts(head, Empty::<Bytes>::new());
        let mut response = timeout(self.timeout, client.request(request)).await??;
        strip_hop_by_hop(response.headers_mut());
        Ok(response.map(|body| Body::new(TimeoutBody::new(self.timeout, body))))
    }
}

fn strip_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP.split(' ') {
        headers.remove(name);
    }
}

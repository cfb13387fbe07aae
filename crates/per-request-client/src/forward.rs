//! Forwarding one request: what RFC 9110 asks of a proxy, and nothing of the lesson.

use std::{sync::Arc, time::Duration};

use anyhow::{bail, ensure};
use axum::{
    body::{Body, HttpBody as _},
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, Uri, Version, header,
        uri::{Authority, Parts, PathAndQuery, Scheme},
    },
    response::Response,
};
use http_body_util::Limited;
use tokio::time::timeout;
use tower_http::timeout::TimeoutBody;

use crate::{Failure, HttpsClient};

/// The largest request body that is forwarded, in bytes.
const LARGEST_BODY: usize = 1024 * 1024;
/// What to do about a missing or unusable `--upstream`.
const REMEDY: &str = "start one with `cargo run --release --bin per-request-client-upstream`, \
                      and pass on the address that it prints: `--upstream https://127.0.0.1:PORT`";
/// Headers that are about one connection, and not about the message; besides these, those that
/// `Connection` names.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The body of a forwarded request: streamed, and cut off past the limit.
pub type Proxied = Limited<Body>;

/// Where requests are forwarded to. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Upstream {
    authority: Arc<Authority>,
    timeout: Duration,
}

impl Upstream {
    /// The upstream at `url`, which is `https://HOST` or `https://HOST:PORT`. It has `timeout` for
    /// accepting a connection and for the head of its answer together, and again for every piece of
    /// the body.
    pub fn new(url: &str, timeout: Duration) -> anyhow::Result<Self> {
        ensure!(!url.is_empty(), "the proxy needs an upstream; {REMEDY}");
        let uri: Option<Uri> = url.parse().ok();
        let bare = |uri: &Uri| uri.path() == "/" && uri.query().is_none() && !url.contains('#');
        match uri.filter(bare).map(Uri::into_parts) {
            Some(Parts { scheme: Some(scheme), authority: Some(authority), .. })
                if scheme == Scheme::HTTPS && !authority.as_str().contains('@') =>
            {
                Ok(Self { authority: Arc::new(authority), timeout })
            }
            _ => bail!("`{url}` is not https://HOST:PORT, or is more than that; {REMEDY}"),
        }
    }

    /// Sends `request` on to the upstream through `client`, and its answer back. Both bodies are
    /// streamed. The visitor has the head by the time that the upstream's body stalls, so that all
    /// that is left to do is to break off.
    pub async fn forward(
        &self,
        client: &HttpsClient,
        request: Request,
    ) -> Result<Response, Failure> {
        let request = self.rewrite(request)?;
        let answer = timeout(self.timeout, client.request(request)).await;
        let mut response = answer.map_err(|_| Failure::TooSlow)??;
        strip_hop_by_hop(response.headers_mut());
        Ok(response.map(|body| Body::new(TimeoutBody::new(self.timeout, body))))
    }

    fn rewrite(&self, request: Request) -> Result<Request<Proxied>, Failure> {
        // What the body announces. One that announces nothing is cut off when it is read.
        if request.body().size_hint().lower() > LARGEST_BODY as u64 {
            return Err(Failure::TooLarge);
        }
        let (mut head, body) = request.into_parts();
        if head.method == Method::CONNECT {
            return Err(Failure::Target);
        }
        let path = head.uri.path_and_query().cloned();
        let uri = Uri::builder()
            .scheme(Scheme::HTTPS)
            .authority(Authority::clone(&self.authority))
            .path_and_query(path.unwrap_or(PathAndQuery::from_static("/")));
        head.uri = uri.build().map_err(|_| Failure::Target)?;
        // The upstream would close a connection after an answer to HTTP/1.0.
        head.version = Version::HTTP_11;
        strip_hop_by_hop(&mut head.headers);
        // The client names the upstream instead.
        head.headers.remove(header::HOST);
        head.headers.append(header::VIA, HeaderValue::from_static("1.1 per-request-client"));
        Ok(Request::from_parts(head, Limited::new(body, LARGEST_BODY)))
    }
}

fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

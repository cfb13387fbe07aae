//! Forwards one request, in the same way for every variant.

use std::io;

use axum::{
    body::{Body, HttpBody as _},
    extract::Request,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body_util::Empty;

use crate::HttpsClient;

/// Headers that belong to one connection, not to the message (RFC 9110, 7.6.1).
const HOP_BY_HOP: &str = "connection keep-alive proxy-authenticate proxy-authorization \
                          proxy-connection te trailer transfer-encoding upgrade";

/// Headers in which a proxy names its client. This one is the first, so a visitor who sends them
/// lies. It adds none of its own, because the site doesn't ask who visits.
const FORGEABLE: &str = "forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip";

/// Where requests are forwarded to.
#[derive(Clone, Debug, clap::Args)]
pub struct Upstream {
    /// Address such as https://127.0.0.1:8443, which `cargo run --release --bin tls-site` prints
    #[arg(long = "upstream", value_name = "URL")]
    pub url: Uri,
}

impl Upstream {
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
        let mut target = self.url.clone().into_parts();
        target.path_and_query = head.uri.path_and_query().cloned();
        if target.path_and_query.is_none() {
            return Err(Failure(StatusCode::BAD_REQUEST, "the request has no path\n"));
        }
        head.uri = Uri::from_parts(target).map_err(unreachable)?;
        // The upstream closes the connection after an answer to HTTP/1.0.
        head.version = Version::HTTP_11;
        strip_hop_by_hop(&mut head.headers);
        for name in FORGEABLE.split(' ') {
            head.headers.remove(name);
        }
        // The client adds a `host` header with the upstream's name.
        head.headers.remove(header::HOST);
        let request = Request::from_parts(head, Empty::<Bytes>::new());
        let mut response = client.request(request).await.map_err(unreachable)?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(Failure(
                StatusCode::BAD_GATEWAY,
                "the upstream switches protocols unasked\n",
            ));
        }
        // The chunks say where the body ends. A length next to them is wrong (RFC 9112, 6.3).
        if response.headers().contains_key(header::TRANSFER_ENCODING) {
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        strip_hop_by_hop(response.headers_mut());
        Ok(response.map(Body::new))
    }
}

/// Removes them, and those that `connection` names.
fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let lists = headers.get_all(header::CONNECTION).into_iter();
    let names = lists.flat_map(|list| list.as_bytes().split(|byte| *byte == b','));
    let named = names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok());
    for name in named.collect::<Vec<_>>() {
        headers.remove(name);
    }
    for name in HOP_BY_HOP.split(' ') {
        headers.remove(name);
    }
}

/// Why a request was not forwarded. The cause goes to standard error only, because visitors must not
/// learn about the network behind the proxy.
#[derive(Debug)]
pub struct Failure(StatusCode, &'static str);

fn unreachable(error: impl Into<anyhow::Error>) -> Failure {
    eprintln!("cannot ask the upstream: {:#}", error.into());
    Failure(StatusCode::BAD_GATEWAY, "the upstream cannot be reached\n")
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        eprintln!("cannot load the certificate authorities: {error}");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the proxy cannot set up TLS\n")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

//! What the upstream answers: its site and an echo of what arrived, and the counters in plain HTTP.

use std::{fmt::Write as _, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};

use super::{Counters, site::Resource};

/// The largest request body that is read, in bytes: more than the proxy lets through.
const LARGEST_BODY: usize = 2 * 1024 * 1024;

/// What all connections answer with.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) site: Arc<[Resource]>,
    pub(super) counters: Arc<Counters>,
}

impl Desk {
    /// Reads the whole request before it answers, so that the connection can be used again.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        self.counters.count_request();
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, LARGEST_BODY).collect().await else {
            return text(StatusCode::BAD_REQUEST, "the body is too large or broke off\n");
        };
        let path = head.uri.path();
        if path == "/echo" {
            return echo(&head, &body.to_bytes());
        }
        match self.site.iter().find(|resource| resource.path == path) {
            None => text(StatusCode::NOT_FOUND, "no such resource\n"),
            Some(_) if !matches!(head.method, Method::GET | Method::HEAD) => {
                text(StatusCode::METHOD_NOT_ALLOWED, "a resource can only be read\n")
            }
            Some(resource) => reply(StatusCode::OK, resource.content_type, resource.body.clone()),
        }
    }

    /// What is answered in plain HTTP: the counters, and nothing of the site.
    pub(super) fn answer_plainly(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() != "/counters" {
            return text(
                StatusCode::BAD_REQUEST,
                "the site speaks HTTPS; only /counters does not\n",
            );
        }
        let mut json = serde_json::to_string(&self.counters.now()).expect("numbers are JSON");
        json.push('\n');
        reply(StatusCode::OK, "application/json", json.into())
    }
}

/// The request as it arrived, as text. The answer carries two headers that are for the next hop
/// alone, so that one can see whether a proxy keeps them to itself.
fn echo(head: &hyper::http::request::Parts, body: &[u8]) -> Response<Full<Bytes>> {
    let mut lines: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    // The order of headers means nothing.
    lines.sort_unstable();
    let mut echo = format!("{} {} {:?}\n", head.method, head.uri, head.version);
    for line in lines {
        let _ = writeln!(echo, "{line}");
    }
    let _ = write!(echo, "\n{}", String::from_utf8_lossy(body));

    let mut response = reply(StatusCode::OK, "text/plain; charset=utf-8", echo.into());
    for (name, value) in
        [("connection", "x-next-hop"), ("x-next-hop", "1"), ("keep-alive", "timeout=120")]
    {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    response
}

fn text(status: StatusCode, message: &'static str) -> Response<Full<Bytes>> {
    reply(status, "text/plain; charset=utf-8", message.into())
}

fn reply(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

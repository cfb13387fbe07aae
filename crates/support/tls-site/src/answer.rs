//! What the site answers: its resources and an echo in TLS, and the counters in plain HTTP.

use std::{fmt::Write as _, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderName, HeaderValue},
};

use crate::{Counters, site::Resource};

/// What all connections answer with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) site: Arc<[Resource]>,
    pub(crate) counters: Arc<Counters>,
}

impl Desk {
    pub(crate) fn answer(&self, request: &Request<Incoming>, tls: bool) -> Response<Full<Bytes>> {
        if tls { self.answer_visitor(request) } else { self.answer_plainly(request) }
    }

    fn answer_visitor(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        self.counters.count_request();
        let path = request.uri().path();
        if path == "/echo" {
            return echo(request);
        }
        match self.site.iter().find(|resource| resource.path == path) {
            None => text(StatusCode::NOT_FOUND, "no such resource\n"),
            Some(_) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
                text(StatusCode::METHOD_NOT_ALLOWED, "a resource can only be read\n")
            }
            Some(resource) => reply(StatusCode::OK, resource.content_type, resource.body.clone()),
        }
    }

    fn answer_plainly(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() != "/counters" {
            return text(StatusCode::BAD_REQUEST, "use HTTPS; plain HTTP is for /counters only\n");
        }
        let mut json = serde_json::to_string(&self.counters.now()).expect("numbers are JSON");
        json.push('\n');
        reply(StatusCode::OK, "application/json", json.into())
    }
}

/// The head of the request as it arrived, as text; `host` without its port, which each start changes. The answer has headers that are for the next hop
/// only, so that a test sees whether a proxy keeps them to itself.
fn echo(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let shown = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        let end = if *name == header::HOST { value.rfind(':') } else { None };
        format!("{name}: {}", &value[..end.unwrap_or(value.len())])
    };
    let mut lines: Vec<_> = request.headers().iter().map(shown).collect();
    // The order of headers means nothing.
    lines.sort_unstable();
    let mut echo = format!("{} {} {:?}\n", request.method(), request.uri(), request.version());
    for line in lines {
        let _ = writeln!(echo, "{line}");
    }
    let mut response = reply(StatusCode::OK, "text/plain; charset=utf-8", echo.into());
    for (name, value) in [
        ("connection", "keep-alive, x-next-hop"),
        ("keep-alive", "timeout=120"),
        ("trailer", "expires"),
        ("x-next-hop", "1"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn text(status: StatusCode, message: &'static str) -> Response<Full<Bytes>> {
    reply(status, "text/plain; charset=utf-8", message.into())
}

fn reply(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

//! A fix must not change an answer: all variants get the same requests.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod trusting;

use std::{env, fs};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Request, Version, header},
};
use http_body_util::BodyExt as _;
use per_request_client::Upstream;
use tls_site::{Background, site};
use tower::util::ServiceExt as _;
use trusting::{VARIANTS, proxies, trusting};

/// Status, headers and body.
type Answer = (u16, HeaderMap, Bytes);

async fn ask(proxy: &Router, request: Request<&'static str>) -> Answer {
    let Ok(response) = proxy.clone().oneshot(request.map(Body::from)).await;
    let (mut head, body) = response.into_parts();
    // The second may have changed between two answers.
    head.headers.remove(header::DATE);
    (head.status.as_u16(), head.headers, body.collect().await.unwrap().to_bytes())
}

fn get(path: &str) -> Request<&'static str> {
    Request::get(path).header("host", "proxy.example").body("").unwrap()
}

/// The answer with these headers, and no others.
fn ok(content_type: &'static str, body: Bytes) -> Answer {
    let length = (header::CONTENT_LENGTH, body.len().into());
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    (200, HeaderMap::from_iter([length, content_type]), body)
}

/// Sends the same request to all `proxies`, and returns the answer, which must be the same.
async fn ask_all(proxies: &[(&str, Router)], request: Request<&'static str>) -> Answer {
    let mut answers = Vec::new();
    for (variant, proxy) in proxies {
        // Twice, because an answer must not break the proxy.
        for _ in 0..2 {
            answers.push(ask(proxy, request.clone()).await);
            assert_eq!(answers.last(), answers.first(), "{variant}, {request:?}");
        }
    }
    answers.remove(0)
}

#[test]
fn every_resource_arrives_byte_for_byte() {
    trusting(async |upstream| {
        let proxies = proxies(upstream.url());
        for resource in site::resources() {
            let answer = ask_all(&proxies, get(resource.path)).await;
            assert_eq!(answer, ok(resource.content_type, resource.body));
        }
    });
}

#[test]
fn all_variants_answer_alike_and_as_expected() {
    trusting(async |upstream| {
        let proxies = proxies(upstream.url());
        for (status, method, target, body) in [
            (200, "HEAD", "/", ""),
            (200, "GET", "http://elsewhere.example/echo", ""),
            (404, "GET", "/no-such-resource", ""),
            (405, "POST", "/echo", "hello"),
            (405, "CONNECT", "elsewhere.example:443", ""),
            (413, "GET", "/echo", "hello"),
            (400, "GET", "elsewhere.example:443", ""),
        ] {
            let request = Request::builder().method(method).uri(target).body(body).unwrap();
            let answer = ask_all(&proxies, request).await;
            assert_eq!(answer.0, status, "{method} {target}: {answer:?}");
        }
    });
}

/// Neither those of the visitor's connection to the proxy, nor those of the proxy's to the site. The
/// echo's own answer has some, too.
#[test]
fn headers_of_a_connection_are_not_forwarded() {
    trusting(async |upstream| {
        let mut request = get("/echo?a=1&b=%20/../&c=%ff");
        *request.version_mut() = Version::HTTP_10;
        for (name, value) in [
            ("connection", "close, X-Session"),
            ("connection", "not a name, ,x-trace"),
            ("x-session", "1"),
            ("x-trace", "2"),
            ("te", "trailers"),
            ("trailer", "expires"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
        ] {
            request.headers_mut().append(name, HeaderValue::from_static(value));
        }
        let echo =
            "GET /echo?a=1&b=%20/../&c=%ff HTTP/1.1\ncookie: a=1\ncookie: b=2\nhost: 127.0.0.1\n";
        let answer = ask_all(&proxies(upstream.url()), request).await;
        assert_eq!(answer, ok("text/plain; charset=utf-8", echo.into()));
    });
}

#[test]
fn an_upstream_that_fails_is_explained_in_one_line() {
    trusting(async |_| {
        let untrusted = Background::start().unwrap();
        // Nothing listens on port 1, and no ordinary process may.
        for upstream in ["https://127.0.0.1:1", untrusted.url()] {
            let answer = ask_all(&proxies(upstream), get("/")).await;
            assert_eq!((answer.0, &*answer.2), (502, &b"the upstream cannot be reached\n"[..]));
        }
        assert_eq!(untrusted.counted().full_handshakes, 0);
    });
}

/// Without authorities, slow starts and answers every visitor with an error. The others do not start.
#[test]
fn without_authorities_slow_fails_its_visitors_and_the_others_do_not_start() {
    trusting(async |upstream| {
        fs::remove_file(env::var("SSL_CERT_FILE").unwrap()).unwrap();
        let upstream = Upstream { url: upstream.url().parse().unwrap() };
        let [(_, slow), others @ ..] = VARIANTS;
        let answer = ask(&slow(upstream.clone()).unwrap(), get("/")).await;
        assert_eq!((answer.0, &*answer.2), (500, &b"the proxy cannot set up TLS\n"[..]));
        for (variant, routes) in others {
            let error = routes(upstream.clone()).unwrap_err().to_string();
            assert!(error.contains("no native root CA certificates found"), "{variant}: {error}");
        }
    });
}

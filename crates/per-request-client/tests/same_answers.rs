//! A fix must not change an answer: all variants get the same requests.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod stalling;
mod trusting;

use std::{env, fs, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{Request, Version},
};
use http_body_util::BodyExt as _;
use per_request_client::Upstream;
use stalling::stalling;
use tls_site::{Background, site};
use tokio::net::TcpListener;
use tower::util::ServiceExt as _;
use trusting::{VARIANTS, proxies, trusting};

/// Status, headers and body.
type Answer = (u16, Vec<String>, String);

async fn ask(proxy: &Router, request: Request<Body>) -> Answer {
    let Ok(response) = proxy.clone().oneshot(request).await;
    let (head, body) = response.into_parts();
    let headers = head.headers.iter().filter(|(name, _)| *name != "date");
    let mut headers: Vec<_> =
        headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    headers.sort_unstable();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), headers, String::from_utf8(body.into()).unwrap())
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", "proxy.example").body(Body::empty()).unwrap()
}

/// Sends the same request to all `proxies`, and returns the answer, which must be the same.
async fn ask_all(proxies: &[(&str, Router)], request: impl Fn() -> Request<Body>) -> Answer {
    let mut answers = Vec::new();
    for (variant, proxy) in proxies {
        // Twice, because an answer must not break the proxy.
        for _ in 0..2 {
            answers.push((variant, ask(proxy, request()).await));
        }
    }
    for (variant, answer) in &answers {
        assert_eq!(*answer, answers[0].1, "{variant}, {:?}", request());
    }
    answers.remove(0).1
}

#[test]
fn every_resource_arrives_byte_for_byte() {
    trusting("every_resource_arrives_byte_for_byte", async |upstream| {
        let proxies = proxies(upstream.url(), 10_000);
        for resource in site::resources() {
            let headers = vec![
                format!("content-length: {}", resource.body.len()),
                format!("content-type: {}", resource.content_type),
            ];
            let body = String::from_utf8(resource.body.into()).unwrap();
            assert_eq!(ask_all(&proxies, || get(resource.path)).await, (200, headers, body));
        }
    });
}

#[test]
fn all_variants_answer_alike_and_as_expected() {
    trusting("all_variants_answer_alike_and_as_expected", async |upstream| {
        let proxies = proxies(upstream.url(), 10_000);
        let custom = |method: &str, target: &str, body: &'static str| {
            Request::builder().method(method).uri(target).body(Body::from(body)).unwrap()
        };
        for (status, method, target, body) in [
            (404, "GET", "/no-such-resource", ""),
            (404, "HEAD", "/no-such-resource", ""),
            (404, "GET", "/%65cho", ""),
            (200, "GET", "/?a=1", ""),
            (200, "GET", "http://elsewhere.example/echo", ""),
            (405, "POST", "/echo", "hello"),
            (405, "DELETE", "/", ""),
            (405, "OPTIONS", "*", ""),
            (405, "BREW", "/", ""),
            (405, "CONNECT", "elsewhere.example:443", ""),
            (413, "GET", "/echo", "hello"),
        ] {
            let answer = ask_all(&proxies, || custom(method, target, body)).await;
            assert_eq!(answer.0, status, "{method} {target}: {answer:?}");
        }
        let (_, headers, body) = ask_all(&proxies, || custom("HEAD", "/", "")).await;
        assert!(headers.contains(&"content-length: 14000".to_owned()) && body.is_empty());

        let with_headers = || {
            let mut request = get("/echo?a=1&b=%20/../&c=%ff");
            *request.version_mut() = Version::HTTP_10;
            let headers = "connection: close, keep-alive: timeout=5, proxy-connection: keep-alive, \
                           proxy-authorization: Basic c2VjcmV0, te: trailers, upgrade: websocket, \
                           cookie: a=1, cookie: b=2";
            for (name, value) in headers.split(", ").filter_map(|line| line.split_once(": ")) {
                request.headers_mut().append(name, value.parse().unwrap());
            }
            request
        };
        let host = upstream.url().replace("https://", "host: ");
        let echo =
            format!("GET /echo?a=1&b=%20/../&c=%ff HTTP/1.1\ncookie: a=1\ncookie: b=2\n{host}\n");
        // The headers of the site's own connection are left out too.
        let headers = vec![
            format!("content-length: {}", echo.len()),
            "content-type: text/plain; charset=utf-8".to_owned(),
        ];
        assert_eq!(ask_all(&proxies, with_headers).await, (200, headers, echo));
    });
}

/// All variants in front of `upstream` fail with `status` and `text`.
async fn all_fail(upstream: &str, status: u16, text: &str) {
    let answer = ask_all(&proxies(upstream, 1000), || get("/")).await;
    assert_eq!((answer.0, &*answer.2), (status, text));
}

#[test]
fn an_unreachable_or_untrusted_upstream_is_a_bad_gateway() {
    trusting("an_unreachable_or_untrusted_upstream_is_a_bad_gateway", async |_| {
        // Nothing listens on port 1, and no ordinary process may.
        all_fail("https://127.0.0.1:1", 502, "the upstream cannot be reached\n").await;
        let untrusted = Background::start().unwrap();
        all_fail(untrusted.url(), 502, "the upstream cannot be reached\n").await;
        assert_eq!(untrusted.counted().full_handshakes, 0);
    });
}

#[test]
fn an_upstream_that_does_not_answer_is_a_gateway_timeout() {
    trusting("an_upstream_that_does_not_answer_is_a_gateway_timeout", async |_| {
        // The kernel accepts its connections, but nobody reads from them.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", silent.local_addr().unwrap());
        all_fail(&url, 504, "the upstream took too long\n").await;
    });
}

/// The status has been sent by then, so the proxy can only close the connection.
#[test]
fn an_upstream_that_stalls_in_mid_answer_breaks_the_answer_off() {
    trusting("an_upstream_that_stalls_in_mid_answer_breaks_the_answer_off", async |upstream| {
        let url = stalling(upstream.url()).await;
        for (variant, proxy) in proxies(&url, 1000) {
            let Ok(response) = proxy.oneshot(get("/js/vendor.js")).await;
            assert_eq!(response.status(), 200, "{variant}");
            let body = tokio::time::timeout(Duration::from_secs(60), response.collect()).await;
            let body = body.unwrap_or_else(|_| panic!("{variant} waits forever"));
            assert!(body.is_err(), "{variant}: {body:?}");
        }
    });
}

/// Without authorities, slow starts and answers every visitor with an error. The others do not start.
#[test]
fn without_authorities_slow_fails_its_visitors_and_the_others_do_not_start() {
    let name = "without_authorities_slow_fails_its_visitors_and_the_others_do_not_start";
    trusting(name, async |upstream| {
        fs::remove_file(env::var("SSL_CERT_FILE").unwrap()).unwrap();
        for (variant, routes) in VARIANTS {
            match routes(Upstream::new(upstream.url(), Duration::from_secs(10)).unwrap()) {
                Ok(slow) => {
                    assert_eq!(variant, "slow");
                    let answer = ask(&slow, get("/")).await;
                    assert_eq!((answer.0, &*answer.2), (500, "the proxy cannot set up TLS\n"));
                }
                Err(error) => {
                    assert_ne!(variant, "slow");
                    let error = error.to_string();
                    assert!(error.contains("no native root CA certificates found"), "{error}");
                }
            }
        }
    });
}

#[test]
fn an_unusable_upstream_is_refused_with_the_command_that_starts_one() {
    let urls = "ftp://127.0.0.1:1 127.0.0.1:1 https://127.0.0.1:1/path http://127.0.0.1:1/path \
                https://127.0.0.1:1?query https://127.0.0.1:1#fragment https://user@127.0.0.1:1 \
                http://user@127.0.0.1:1 https:// http:// other ";
    for url in urls.split(' ') {
        let error = Upstream::new(url, Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("cargo run --release --bin tls-site"), "`{url}`: {error}");
    }
}

#[test]
fn an_upstream_without_tls_is_forwarded_too() {
    trusting("an_upstream_without_tls_is_forwarded_too", async |_| {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = format!("http://{}", listener.local_addr().unwrap());
        let plain = Router::new().fallback(async || "plain");
        tokio::spawn(async { axum::serve(listener, plain).await });
        let answer = ask_all(&proxies(&upstream, 10_000), || get("/")).await;
        assert_eq!((answer.0, answer.2), (200, "plain".to_owned()));
    });
}

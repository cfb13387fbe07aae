//! What visitors must not get from an upstream that breaks the rules, and what it must not get from them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod trusting;

use axum::{body::Body, http::Request};
use http_body_util::BodyExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tower::util::ServiceExt as _;
use trusting::{proxies, trusting};

/// Answers each connection's first request with these bytes. Returns the URL.
async fn upstream(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert_ne!(stream.read(&mut [0; 4096]).await.unwrap(), 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

#[test]
fn of_two_lengths_the_one_of_the_chunks_counts() {
    trusting(async |_| {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n\
                      5\r\nhello\r\n0\r\n\r\n";
        for (variant, proxy) in proxies(&upstream(answer).await) {
            let Ok(response) = proxy.oneshot(Request::get("/").body(Body::empty()).unwrap()).await;
            let (head, body) = response.into_parts();
            assert!(head.headers.is_empty(), "{variant}: {head:?}");
            assert_eq!(body.collect().await.unwrap().to_bytes(), "hello", "{variant}");
        }
    });
}

#[test]
fn nobody_is_switched_to_another_protocol_unasked() {
    trusting(async |_| {
        let answer =
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
        for (variant, proxy) in proxies(&upstream(answer).await) {
            let Ok(response) = proxy.oneshot(Request::get("/").body(Body::empty()).unwrap()).await;
            assert_eq!(response.status(), 502, "{variant}");
        }
    });
}

#[test]
fn a_visitor_cannot_name_the_client_of_the_proxy() {
    trusting(async |upstream| {
        for (variant, proxy) in proxies(upstream.url()) {
            let request = ["forwarded", "x-forwarded-for", "X-Forwarded-Host", "x-real-ip"]
                .into_iter()
                .fold(Request::get("/echo"), |request, name| request.header(name, "127.0.0.1"));
            let Ok(response) = proxy.oneshot(request.body(Body::empty()).unwrap()).await;
            let echo = response.into_body().collect().await.unwrap().to_bytes();
            let host = upstream.url().replace("https://", "host: ");
            assert_eq!(echo, format!("GET /echo HTTP/1.1\n{host}\n"), "{variant}");
        }
    });
}

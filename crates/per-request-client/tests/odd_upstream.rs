//! What visitors must not get from an upstream that breaks the rules, and what it must not get from them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod trusting;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{body::Body, http::Request};
use case_server::{Erased, Limits, serve};
use http_body_util::BodyExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
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

/// Keeps all that it reads, and answers each time. Returns the URL.
async fn recording(read: Arc<Mutex<Vec<u8>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let read = Arc::clone(&read);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    read.lock().unwrap().extend(&bytes[..count]);
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    stream.write_all(answer).await.unwrap();
                }
            });
        }
    });
    url
}

/// A request inside a body, a header or a target, for a proxy or a site that mistakes where the outer one ends.
const SMUGGLED: [&str; 13] = [
    "GET / HTTP/1.1\nhost: a\ncontent-length: 33\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\ncontent-length: 33\nconnection: content-length\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "HEAD / HTTP/1.1\nhost: a\ncontent-length: 33\nexpect: 100-continue\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\ncontent-length: 0\ncontent-length: 33\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\ncontent-length: 5\ntransfer-encoding: chunked\n\n25\nGET /forged HTTP/1.1\nhost: a\nx: y\n\n0\n\n",
    "GET / HTTP/1.1\nhost: a\ncontent-length: 33\ntransfer-encoding : chunked\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\ncontent-length: 33\ntransfer-encoding: xchunked\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\nupgrade: h2c\nconnection: upgrade\ncontent-length: 33\n\nGET /forged HTTP/1.1\nhost: a\n\n",
    "GET / HTTP/1.1\nhost: a\nx: y\n GET /forged HTTP/1.1\n\n",
    "GET / HTTP/1.1\nhost: a\nx: y\rGET /forged HTTP/1.1\r\n\n",
    "GET / HTTP/1.1\nhost: a\nx: y\0\rGET /forged HTTP/1.1\n\n",
    "GET /%0d%0aGET%20/forged HTTP/1.1\nhost: a\n\n",
    "GET /\tHTTP/1.1\rGET /forged HTTP/1.1\nhost: a\n\n",
];

#[test]
fn no_request_is_smuggled_to_the_upstream() {
    trusting(async |_| {
        let read = Arc::default();
        for (variant, proxy) in proxies(&recording(Arc::clone(&read)).await) {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let never = Box::pin(std::future::pending());
            // What follows a request is no head: soon, the proxy waits no longer for its end.
            let limits = Limits { head: Duration::from_millis(50), ..Limits::default() };
            tokio::spawn(serve(listener, Erased::new(proxy), limits, never));
            // One that is forwarded comes last, so what the others left in a connection would come with it.
            for request in SMUGGLED.into_iter().chain(["GET /last HTTP/1.1\nhost: a\n\n"]) {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.unwrap();
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
            let read = String::from_utf8(std::mem::take(&mut *read.lock().unwrap())).unwrap();
            let read = read.replace('\r', "\n");
            assert!(read.contains("GET /last HTTP/1.1\n"), "{variant}: {read}");
            let is_forged = |line: &str| line.trim_start().starts_with("GET /forged");
            assert!(!read.lines().any(is_forged), "{variant}: {read}");
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
            assert_eq!(echo, "GET /echo HTTP/1.1\nhost: 127.0.0.1\n", "{variant}");
        }
    });
}

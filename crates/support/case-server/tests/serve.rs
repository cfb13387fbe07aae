//! The accept loop over real sockets: its limits, and how it stops.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bytes::Bytes;
use case_server::{Erased, Limits, serve};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};
use tower::service_fn;

const NEVER: Duration = Duration::from_secs(600);

/// A server whose `/slow` answers after `wait`; it stops when the sender is used or dropped.
async fn server(
    wait: Duration,
    limits: Limits,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let service = service_fn(move |request: Request<Incoming>| async move {
        if request.uri().path() == "/slow" {
            tokio::time::sleep(wait).await;
        }
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from("done"))))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stopped = Box::pin(async { drop(stopped.await) });
    (address, stop, tokio::spawn(serve(listener, Erased::new(service), limits, stopped)))
}

/// Sends `request` and reads until the server closes the connection.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const SLOW: &str = "GET /slow HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn a_request_over_its_limit_is_answered_with_503() {
    let limits = Limits { request: Duration::from_millis(20), ..Limits::default() };
    let (address, _stop, _server) = server(NEVER, limits).await;
    let answer = exchange(address, SLOW).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.ends_with("the request took too long\n"), "{answer}");
}

#[tokio::test]
async fn a_client_that_never_ends_its_head_is_cut_off() {
    let limits = Limits { head: Duration::from_millis(20), ..Limits::default() };
    let (address, _stop, _server) = server(NEVER, limits).await;
    // Returns at all only because the server closes the connection.
    let answer = exchange(address, "GET /fast HTTP/1.1\r\nhost: he").await;
    assert!(!answer.contains("done"), "{answer}");
}

#[tokio::test]
async fn a_request_under_way_is_answered_before_the_server_ends() {
    let (address, stop, server) = server(Duration::from_millis(100), Limits::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /slow HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
    // The server has the request when it answers nothing to it yet but has accepted the next.
    exchange(address, "GET /fast HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").await;
    stop.send(()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("done"), "{answer}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_end_does_not_keep_the_server_from_ending() {
    let limits = Limits { drain: Duration::from_millis(20), ..Limits::default() };
    let (address, stop, server) = server(NEVER, limits).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(SLOW.as_bytes()).await.unwrap();
    stop.send(()).unwrap();
    server.await.unwrap();
}

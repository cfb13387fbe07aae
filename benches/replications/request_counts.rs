//! The bench sends as many requests as its name says. Without this test, a helper that sends one more
//! for each visitor makes every time too long, and the shortest bench twice as long.

mod visitors;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use axum::Router;
use bytes::Bytes;
use tokio::net::TcpListener;
use visitors::{Visitor, Visitors};

#[tokio::test]
async fn the_server_counts_as_many_requests_as_the_bench_says() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("the listener has an address");
    let url = format!("http://{address}/").parse().expect("the URL is valid");
    let arrived = Arc::new(AtomicUsize::new(0));
    let count = arrived.clone();
    let answer = move || {
        count.fetch_add(1, Relaxed);
        std::future::ready("counted")
    };
    tokio::spawn(async { axum::serve(listener, Router::new().fallback(answer)).await });

    let expected = Visitor::new(&url).ask().await;
    assert_eq!(expected, Bytes::from("counted"));
    for (visitors, requests) in [(1, 1), (1, 100), (10, 100), (100, 100), (10, 101), (10, 3)] {
        let before = arrived.load(Relaxed);
        Visitors::new(visitors, &url).send(requests, &expected).await;
        assert_eq!(arrived.load(Relaxed) - before, requests, "{visitors} visitors");
    }
}

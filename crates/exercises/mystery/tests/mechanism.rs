//! What each fault that has to do with waits does to concurrent requests, and that all servers answer alike.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use axum::{body::Body, http::Request};
use case_server::InProcess;
use http_body_util::BodyExt as _;
use mystery::{
    faults::{Fault, of_seed},
    shop::{accepted, routes},
    stock::StockService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tower::ServiceExt as _;

/// Long enough that requests which may overlap do.
const WAIT: Duration = Duration::from_millis(200);
const USERS: usize = 8;

/// A shop with these faults, its stock service, and the directory of its log.
fn shop(faults: &[Fault], wait: Duration) -> (InProcess, StockService, tempfile::TempDir) {
    let (stock, dir) = (StockService::start(wait).unwrap(), tempfile::tempdir().unwrap());
    let routes = routes(&stock, &dir.path().join("log"), faults).unwrap();
    (InProcess::new(routes), stock, dir)
}

/// On one thread, so that a blocked worker blocks all.
#[tokio::test]
async fn the_stock_service_sees_who_lets_requests_overlap() {
    for (faults, at_once) in [
        (&[][..], USERS),
        (&[Fault::Pool], 2),
        (&[Fault::Lock], 1),
        (&[Fault::Blocking], 1),
        (&[Fault::Nodelay], USERS),
    ] {
        let (shop, stock, _dir) = shop(faults, WAIT);
        let mut users = JoinSet::new();
        for id in 1..=USERS {
            let shop = shop.clone();
            users.spawn(async move { shop.get(&format!("/orders/{id}")).await.0 });
        }
        assert_eq!(users.join_all().await, [200; USERS], "{faults:?}");
        assert_eq!(stock.seen.most_at_once.load(Relaxed), at_once, "{faults:?}");
    }
}

#[tokio::test]
async fn only_a_client_for_each_request_connects_for_each_request() {
    for (faults, connections) in [(&[][..], 1), (&[Fault::Client], 10), (&[Fault::Blocking], 1)] {
        let (shop, stock, _dir) = shop(faults, Duration::ZERO);
        for _ in 0..10 {
            assert_eq!(shop.get("/orders/3").await.0, 200);
            // A task returns the connection to the pool.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(stock.seen.connections.load(Relaxed), connections, "{faults:?}");
    }
}

#[tokio::test]
async fn only_the_fault_leaves_nagles_algorithm_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (faults, is_set) in [(&[][..], true), (&[Fault::Nodelay], false)] {
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        accepted(&stream, faults);
        assert_eq!(stream.nodelay().unwrap(), is_set);
    }
}

#[tokio::test]
async fn an_answer_has_two_parts() {
    let (stock, dir) = (StockService::start(WAIT).unwrap(), tempfile::tempdir().unwrap());
    let routes = routes(&stock, &dir.path().join("log"), &[]).unwrap();
    let request = Request::get("/orders/1").body(Body::empty()).unwrap();
    let mut body = routes.oneshot(request).await.unwrap().into_body();
    let mut parts = 0;
    while let Some(part) = body.frame().await {
        parts += usize::from(part.unwrap().is_data());
    }
    assert_eq!(parts, 2);
}

#[tokio::test]
async fn all_servers_answer_alike() {
    let asked = ["/orders/1", "/orders/32", "/orders/33", "/orders/0", "/orders/x", "/orders", "/"];
    let mut right = Vec::new();
    let (healthy, _stock, _dir) = shop(&[], Duration::ZERO);
    for path in asked {
        right.push(healthy.get(path).await);
    }
    let text = "{\"order\":1,\"lines\":400,\"cents\":";
    assert!(right[0].1.starts_with(text.as_bytes()) && right[0].1.ends_with(b",\"stock\":37}\n"));
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let faults = of_seed(seed).unwrap();
        if kinds.insert(faults.clone()) {
            let (shop, _stock, _dir) = shop(&faults, Duration::ZERO);
            for (path, right) in asked.iter().zip(&right) {
                assert_eq!(shop.get(path).await, *right, "{faults:?} {path}");
            }
        }
    }
    assert!(kinds.len() > 40, "{}", kinds.len());
}

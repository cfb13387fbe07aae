//! What a server that is profiled answers: `cargo test -p case-server --features profile`.

#![cfg(feature = "profile")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::{
    hint::black_box,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use asking::{get, served};
use case_server::profile;
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::{Instrument as _, info_span};
use warp::Filter as _;

/// A server on which a request to `/wait` waits, in a span, until a permit is added.
async fn waiting() -> (SocketAddr, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let let_go = permits.clone();
    let routes = warp::path("wait").then(move || {
        let permits = permits.clone();
        async move {
            permits.acquire().instrument(info_span!("wait")).await.unwrap().forget();
            "done"
        }
    });
    (served(routes.boxed()).await, let_go)
}

/// All spans of the process so far that are called `name`.
async fn spans(address: SocketAddr, name: &str) -> Vec<Value> {
    let answer = get(address, &format!("{}?last_ms=86400000", profile::SPANS)).await;
    let told: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(told["dropped"], 0);
    let spans = told["spans"].as_array().unwrap().iter();
    spans.filter(|span| span["name"] == name).cloned().collect()
}

#[tokio::test]
async fn spans_nest_and_are_told_while_they_are_open() {
    let (address, let_go) = waiting().await;
    let request = tokio::spawn(async move { get(address, "/wait").await });
    let open = loop {
        if let [open] = &spans(address, "wait").await[..] {
            break open.clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(open["end_us"], Value::Null);
    let is_parent = |span: &Value| span["id"] == open["parent"];
    let parent = spans(address, "request").await.into_iter().find(is_parent).unwrap();
    assert_eq!(parent["parent"], Value::Null);
    assert_eq!(parent["end_us"], Value::Null);

    let_go.add_permits(1);
    assert!(request.await.unwrap().ends_with("done"));
    let closed = &spans(address, "wait").await[0];
    assert_eq!(closed["start_us"], open["start_us"]);
    let parent = spans(address, "request").await.into_iter().find(is_parent).unwrap();
    let times = [&parent["start_us"], &closed["start_us"], &closed["end_us"], &parent["end_us"]];
    assert!(times.map(|time| time.as_u64().unwrap()).is_sorted(), "{parent} {closed}");
}

#[inline(never)]
fn a_busy_function() -> u64 {
    (0..1_000_000).fold(1, |x: u64, _| black_box(x.wrapping_mul(31)))
}

/// One test, as there is but one sampler in a process.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sampler_finds_a_busy_function_and_refuses_what_it_cannot_do() {
    let (address, _let_go) = waiting().await;
    for (query, wrong) in [
        ("ms=0", "ms has to be a whole number from 1 to 60000"),
        ("ms=60001", "ms has to be a whole number from 1 to 60000"),
        ("hz=1000", "hz has to be a whole number from 1 to 999"),
        ("hz=-1", "hz has to be a whole number from 1 to 999"),
    ] {
        let answer = get(address, &format!("{}?{query}", profile::CPU)).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{query}: {answer}");
        assert!(answer.contains(wrong), "{query}: {answer}");
    }

    let stop = Arc::new(AtomicBool::new(false));
    let worker = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                a_busy_function();
            }
        }
    });
    let sample = || get(address, "/.lab/cpu?ms=1000&hz=99");
    let (one, other) = tokio::join!(sample(), sample());
    stop.store(true, Ordering::Relaxed);
    worker.await.unwrap();

    // Which of the two came first is chance.
    let (answer, refusal) =
        if one.starts_with("HTTP/1.1 409") { (other, one) } else { (one, other) };
    assert!(refusal.starts_with("HTTP/1.1 409"), "{refusal}");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let folded = answer.split_once("\r\n\r\n").unwrap().1;
    let samples = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let all: u64 = folded.lines().map(samples).sum();
    let busy: u64 = folded.lines().filter(|l| l.contains("a_busy_function")).map(samples).sum();
    assert!(busy > 0 && 2 * busy > all, "{busy} of {all} samples:\n{folded}");
    assert!(!folded.contains("perf_signal_handler"), "{folded}");
}

//! Run with `cargo test -p case-probe --all-features`.

#![cfg(feature = "profile")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use asking::ask;
use case_probe::sync::Mutex;
use serde_json::Value;

/// All spans of the process so far that are called `name`.
async fn spans(name: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&ask("/.lab/spans?last_ms=86400000").await.1).unwrap();
    assert_eq!(answer["dropped"], 0);
    let spans = answer["spans"].as_array().unwrap().iter();
    spans.filter(|span| span["name"] == name).cloned().collect()
}

#[tokio::test]
async fn spans_of_a_request_are_reported_while_they_are_open() {
    case_probe::start();
    let lock = Arc::new(Mutex::new(()));
    let first = lock.lock().await;
    let request = tokio::spawn({
        let lock = lock.clone();
        case_probe::request(async move { drop(lock.lock().await) })
    });
    let open = loop {
        // The first wait is this test's own, and belongs to no request.
        if let [_, open] = &spans("lock wait").await[..] {
            break open.clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(open["end_us"], Value::Null);
    let is_parent = |span: &Value| span["id"] == open["parent"];
    let parent = spans("request").await.into_iter().find(is_parent).unwrap();
    assert_eq!(parent["parent"], Value::Null);
    assert_eq!(parent["end_us"], Value::Null);

    drop(first);
    request.await.unwrap();
    let (wait, held) = (&spans("lock wait").await[1], &spans("lock held").await[1]);
    assert_eq!(wait["start_us"], open["start_us"]);
    assert_eq!(held["parent"], open["parent"]);
    let parent = spans("request").await.into_iter().find(is_parent).unwrap();
    let times = [
        &parent["start_us"],
        &wait["start_us"],
        &wait["end_us"],
        &held["start_us"],
        &held["end_us"],
        &parent["end_us"],
    ];
    assert!(times.map(|time| time.as_u64().unwrap()).is_sorted(), "{parent} {wait} {held}");
}

/// Otherwise a request that the end of the load cuts off would count as answered, and quickly.
#[tokio::test]
async fn a_request_whose_client_leaves_stays_open() {
    case_probe::start();
    let request = tokio::spawn(case_probe::request(async {
        let _waits = case_probe::span("waits for a client that leaves");
        std::future::pending::<()>().await;
    }));
    let part = loop {
        if let Some(part) = spans("waits for a client that leaves").await.pop() {
            break part;
        }
        tokio::task::yield_now().await;
    };
    request.abort();
    assert!(request.await.unwrap_err().is_cancelled());
    let request = spans("request").await.into_iter().find(|span| span["id"] == part["parent"]);
    assert_eq!(request.unwrap()["end_us"], Value::Null);
}

#[inline(never)]
fn a_busy_function() -> u64 {
    (0..1_000_000).fold(1, |x: u64, _| black_box(x.wrapping_mul(31)))
}

/// One test, since a process has one sampler.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sampler_finds_a_busy_function_and_refuses_what_it_cannot_do() {
    case_probe::start();
    for (query, wrong) in [
        ("ms=0", "ms has to be a whole number from 1 to 60000\n"),
        ("ms=60001", "ms has to be a whole number from 1 to 60000\n"),
        ("hz=1000", "hz has to be a whole number from 1 to 999\n"),
        ("hz=-1", "hz has to be a whole number from 1 to 999\n"),
    ] {
        assert_eq!(ask(&format!("/.lab/cpu?{query}")).await, (400, wrong.to_owned()), "{query}");
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
    let sample = || ask("/.lab/cpu?ms=1000&hz=99");
    let (one, other) = tokio::join!(sample(), sample());
    stop.store(true, Ordering::Relaxed);
    worker.await.unwrap();

    // Either of the two may come first.
    let (answer, refusal) = if one.0 == 409 { (other, one) } else { (one, other) };
    assert_eq!(refusal.0, 409);
    // No name is looked up before somebody asks for it.
    assert_eq!(answer.0, 200, "{}", answer.1);
    let sampled: u64 = answer.1.strip_suffix(" samples\n").unwrap().parse().unwrap();
    let (status, folded) = ask("/.lab/cpu/stacks").await;
    assert_eq!(status, 200, "{folded}");
    let samples = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let all: u64 = folded.lines().map(samples).sum();
    let busy: u64 = folded.lines().filter(|l| l.contains("a_busy_function")).map(samples).sum();
    // pprof leaves out the frames of its own signal handler, but no sample.
    assert_eq!(all, sampled);
    assert!(busy > 0 && 2 * busy > all, "{busy} of {all} samples:\n{folded}");
    assert!(!folded.contains("perf_signal_handler"), "{folded}");
    assert_eq!(ask("/.lab/cpu/stacks").await.0, 404, "they are answered once");
}

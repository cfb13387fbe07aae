//! What a server that samples allocations answers:
//! `cargo test -p case-server --features profile-heap`.

#![cfg(feature = "profile-heap")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::hint::black_box;

use asking::{get, served};
use case_server::profile;
use serde_json::Value;
use warp::Filter as _;

const TIMES: u64 = 600_000;

#[inline(never)]
fn small_ones() {
    (0..TIMES).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(1024))));
}

/// As often as the small ones, but as zeroes and larger than the distance between two samples.
#[inline(never)]
fn large_ones() {
    (0..TIMES / 200).for_each(|_| drop(black_box(vec![0_u8; 200 * 1024])));
}

/// Buffers that grow from 1 to 64 kB: what they grow by is 64 kB in all.
#[inline(never)]
fn growing_ones() {
    for _ in 0..TIMES / 64 {
        let mut buffer = Vec::<u8>::with_capacity(1024);
        for power in 1..=6 {
            buffer.resize(1024 << power, 1);
            black_box(&buffer);
        }
    }
}

/// One test, as there is but one allocator.
#[tokio::test]
async fn the_estimates_are_within_five_per_cent_of_what_was_allocated() {
    let routes = warp::path("work").then(|| async {
        let work = [small_ones, large_ones, growing_ones].map(tokio::task::spawn_blocking);
        for work in work {
            work.await.unwrap();
        }
        "done"
    });
    let address = served(routes.boxed()).await;
    assert!(get(address, "/work").await.ends_with("done"));
    assert!(get(address, profile::HEAP_RESET).await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/work").await.ends_with("done"));

    let answer = get(address, profile::HEAP).await;
    let told: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let folded = told["folded"].as_str().unwrap();
    let bytes = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let exact = TIMES * 1024;
    // Between 3,000 and 9,400 samples hit each: the estimates are off by one per cent or so.
    for function in ["small_ones", "large_ones", "growing_ones"] {
        let estimate: u64 = folded.lines().filter(|line| line.contains(function)).map(bytes).sum();
        let error = estimate as f64 / exact as f64 - 1.0;
        assert!(error.abs() < 0.05, "{function}: {estimate} for {exact}, {error:+.3}\n{folded}");
    }
    let all: u64 = folded.lines().map(bytes).sum();
    let told_bytes = told["bytes"].as_u64().unwrap();
    assert!(all.abs_diff(told_bytes) <= folded.lines().count() as u64, "{all} {told_bytes}");
    assert!(told["samples"].as_u64().unwrap() > 20_000, "{}", told["samples"]);
    assert!(!folded.contains("tracking_allocator"), "{folded}");

    get(address, profile::HEAP_RESET).await;
    let answer = get(address, profile::HEAP).await;
    assert!(!answer.contains("small_ones"), "a reset forgets: {answer}");
}

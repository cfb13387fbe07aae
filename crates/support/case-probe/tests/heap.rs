//! Run with `cargo test -p case-probe --all-features`.

#![cfg(feature = "profile-heap")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::hint::black_box;

use asking::ask;
use serde_json::Value;

const TIMES: u64 = 600_000;
/// 1 to 64 kB, doubled six times: 127 kB in all.
const GROWN: u64 = 127;

#[inline(never)]
fn small_ones() {
    (0..TIMES).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(1024))));
}

/// As many bytes, as zeroes, and each larger than the distance between two samples.
#[inline(never)]
fn large_ones() {
    (0..TIMES / 200).for_each(|_| drop(black_box(vec![0_u8; 200 * 1024])));
}

/// As many bytes, nearly, in buffers that grow.
#[inline(never)]
fn growing_ones() {
    for _ in 0..TIMES / GROWN {
        let mut buffer = Vec::<u8>::with_capacity(1024);
        for power in 1..=6 {
            buffer.resize(1024 << power, 1);
            black_box(&buffer);
        }
    }
}

/// One test, since a process has one allocator.
#[tokio::test]
async fn estimates_are_within_five_per_cent() {
    case_probe::start();
    small_ones();
    assert_eq!(ask("/.lab/heap/reset").await.0, 200);
    for work in [small_ones, large_ones, growing_ones] {
        tokio::task::spawn_blocking(work).await.unwrap();
    }

    let answer: Value = serde_json::from_str(&ask("/.lab/heap").await.1).unwrap();
    let folded = answer["folded"].as_str().unwrap();
    let bytes = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let grown = TIMES / GROWN * GROWN;
    // Between 3,000 and 9,400 samples hit each, so an estimate is off by about one per cent.
    for (function, kilobytes) in
        [("small_ones", TIMES), ("large_ones", TIMES), ("growing_ones", grown)]
    {
        let estimate: u64 = folded.lines().filter(|line| line.contains(function)).map(bytes).sum();
        let error = estimate as f64 / (kilobytes * 1024) as f64 - 1.0;
        assert!(error.abs() < 0.05, "{function}: {estimate}, {error:+.3}\n{folded}");
    }
    let all: u64 = folded.lines().map(bytes).sum();
    let total = answer["bytes"].as_u64().unwrap();
    assert!(all.abs_diff(total) <= folded.lines().count() as u64, "{all} {total}");
    assert!(answer["samples"].as_u64().unwrap() > 15_000, "{}", answer["samples"]);
    assert!(!folded.contains("tracking_allocator"), "{folded}");

    ask("/.lab/heap/reset").await;
    let (_, answer) = ask("/.lab/heap").await;
    assert!(!answer.contains("small_ones"), "{answer}");
}

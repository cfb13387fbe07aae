//! Run with `cargo test -p case-probe --all-features`.

#![cfg(feature = "count-allocations")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::hint::black_box;

use asking::ask;

/// The numbers of an answer such as `{"allocations":1,"bytes":2}`.
async fn counts() -> [u64; 2] {
    let (status, json) = ask("/.lab/allocations").await;
    assert_eq!(status, 200);
    let (allocations, bytes) =
        json.strip_prefix("{\"allocations\":").unwrap().split_once(",\"bytes\":").unwrap();
    [allocations, bytes.strip_suffix("}\n").unwrap()].map(|number| number.parse().unwrap())
}

#[tokio::test]
async fn allocations_of_all_threads_are_counted() {
    case_probe::start();
    let before = counts().await;
    let work = || (0..1000).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(1024))));
    tokio::task::spawn_blocking(work).await.unwrap();
    let after = counts().await;
    // The rest is the thread, and the answers.
    assert!((1000..1100).contains(&(after[0] - before[0])), "{before:?} {after:?}");
    assert!((1_024_000..1_100_000).contains(&(after[1] - before[1])), "{before:?} {after:?}");
}

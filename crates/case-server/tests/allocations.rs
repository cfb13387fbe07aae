//! What a server that counts answers: `cargo test -p case-server --features count-allocations`.

#![cfg(feature = "count-allocations")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod asking;

use std::hint::black_box;

use asking::{get, served};
use case_server::allocations;
use warp::Filter as _;

/// The numbers of an answer such as `{"allocations":1,"bytes":2}`.
fn counts(answer: &str) -> [u64; 2] {
    let json = answer.lines().last().unwrap();
    let (allocations, bytes) =
        json.strip_prefix("{\"allocations\":").unwrap().split_once(',').unwrap();
    let bytes = bytes.strip_prefix("\"bytes\":").unwrap().strip_suffix('}').unwrap();
    [allocations, bytes].map(|number| number.parse().unwrap())
}

#[tokio::test]
async fn the_allocations_of_all_threads_are_counted_and_told() {
    let routes = warp::path("work").then(|| async {
        let work = || (0..1000).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(1024))));
        tokio::task::spawn_blocking(work).await.unwrap();
        "done"
    });
    let address = served(routes.boxed()).await;

    let before = counts(&get(address, allocations::PATH).await);
    assert!(get(address, "/work").await.ends_with("done"));
    let after = counts(&get(address, allocations::PATH).await);
    // The rest is the work of both ends to exchange two requests.
    assert!((1000..1500).contains(&(after[0] - before[0])), "{before:?} {after:?}");
    assert!((1_024_000..1_300_000).contains(&(after[1] - before[1])), "{before:?} {after:?}");
}

//! How long 64 concurrent reads take in virtual time: exact, on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use case_server::InProcess;
use lock_scope::variants;
use tokio::{task::JoinSet, time::Instant};
use warp::http::Request;

const DOWNSTREAM: Duration = Duration::from_millis(50);
const CLIENT: &str = r#"{"user_id":3,"subscribed_topics":[]}"#;

/// The virtual time of 64 reads that are sent at once; with `writes`, a write follows every 16th.
async fn time_of_64_reads(routes: InProcess, writes: bool) -> Duration {
    let start = Instant::now();
    let mut requests = JoinSet::new();
    for read in 1..=64 {
        let reader = routes.clone();
        requests.spawn(async move { assert_eq!(reader.get("/read").await, (200, "6".into())) });
        // The read asks for the lock before the next request is sent.
        tokio::task::yield_now().await;
        if writes && read % 16 == 0 {
            let writer = routes.clone();
            requests.spawn(async move {
                let write =
                    Request::put("/clients/12-67-22").header("content-length", CLIENT.len());
                assert_eq!(writer.ask(write.body(CLIENT).unwrap()).await.0, 204);
            });
            tokio::task::yield_now().await;
        }
    }
    requests.join_all().await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn reads_alone_queue_only_behind_a_mutex_that_is_held() {
    for (variant, routes) in variants(DOWNSTREAM) {
        let waits = if variant == "slow" { 64 } else { 1 };
        assert_eq!(time_of_64_reads(routes, false).await, waits * DOWNSTREAM, "{variant}");
    }
}

/// With reads alone, `rwlock-held` and `fixed` look alike. Writes show the difference.
#[tokio::test(start_paused = true)]
async fn with_writes_a_shared_lock_that_is_held_makes_readers_queue_too() {
    for (variant, routes) in variants(DOWNSTREAM) {
        let waits = match variant {
            "slow" => 64,
            // Every write waits for the 16 reads before it, and the next 16 reads wait for the write.
            "rwlock-held" => 4,
            _ => 1,
        };
        assert_eq!(time_of_64_reads(routes, true).await, waits * DOWNSTREAM, "{variant}");
    }
}

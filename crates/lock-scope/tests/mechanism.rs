//! How long 64 concurrent reads take in virtual time. The result is exact on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use case_server::InProcess;
use lock_scope::variants;
use tokio::{
    task::{JoinSet, yield_now},
    time::Instant,
};
use warp::http::Request;

const DOWNSTREAM: Duration = Duration::from_millis(50);

async fn read(routes: InProcess) {
    assert_eq!(routes.get("/read").await, (200, "6".into()));
}

async fn write(routes: InProcess) {
    let request = Request::put("/clients/12-67-22/3").body("").unwrap();
    assert_eq!(routes.ask(request).await.0, 204);
}

#[tokio::test(start_paused = true)]
async fn reads_alone_queue_only_behind_a_mutex_that_is_held() {
    for (variant, routes) in variants(DOWNSTREAM) {
        let start = Instant::now();
        let mut reads = JoinSet::new();
        for _ in 0..64 {
            reads.spawn(read(routes.clone()));
        }
        reads.join_all().await;
        let waits = if variant == "slow" { 64 } else { 1 };
        assert_eq!(start.elapsed(), waits * DOWNSTREAM, "{variant}");
    }
}

/// Reads alone take equally long in `rwlock-held` and `fixed`. Writes show the difference.
#[tokio::test(start_paused = true)]
async fn with_writes_a_shared_lock_that_is_held_makes_readers_queue_too() {
    for (variant, routes) in variants(DOWNSTREAM) {
        let start = Instant::now();
        let mut requests = JoinSet::new();
        for _ in 0..4 {
            for _ in 0..16 {
                requests.spawn(read(routes.clone()));
                // Let this request ask for the lock before the next one does.
                yield_now().await;
            }
            requests.spawn(write(routes.clone()));
            yield_now().await;
        }
        requests.join_all().await;
        let waits = match variant {
            "slow" => 64,
            // Each write waits for the 16 reads ahead of it. The 16 reads behind it wait for it.
            "rwlock-held" => 4,
            _ => 1,
        };
        assert_eq!(start.elapsed(), waits * DOWNSTREAM, "{variant}");
    }
}

//! How long 64 concurrent quotes take in virtual time. The result is exact on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{sync::Arc, time::Duration};

use axum::{Router, extract::Path, routing::get};
use case_server::InProcess;
use quotes::{Depot, MOST_CONNECTIONS, Options, Wholesaler, fixed, slow};
use tokio::{sync::Mutex, task::JoinSet, time::Instant};

const FAR: Duration = Duration::from_millis(50);
const OPTIONS: Options = Options { far_ms: 50, near_ms: 5 };

/// A quote with both limits, one of them or neither. It answers nothing.
fn limited(holds_the_lock: bool, connections: usize) -> Router {
    let wholesaler = Wholesaler::connect(OPTIONS, connections).unwrap();
    let lock = Arc::new(Mutex::new(()));
    let quote = async move |Path((depot, item)): Path<(Depot, String)>| {
        let owned = lock.clone().lock_owned();
        if holds_the_lock {
            let _guard = owned.await;
            wholesaler.price(depot, &item).await;
        } else {
            wholesaler.price(depot, &item).await;
            drop(owned.await);
        }
    };
    Router::new().route("/quotes/{depot}/{item}", get(quote))
}

async fn waits(routes: Router) -> u32 {
    let routes = InProcess::new(routes);
    let (start, mut quotes) = (Instant::now(), JoinSet::new());
    for _ in 0..64 {
        let routes = routes.clone();
        quotes
            .spawn(async move { assert_eq!(routes.get("/quotes/far/lamp?amount=1").await.0, 200) });
    }
    quotes.join_all().await;
    let elapsed = start.elapsed();
    assert_eq!(elapsed.as_millis() % FAR.as_millis(), 0, "{elapsed:?}");
    elapsed.div_duration_f64(FAR) as u32
}

#[tokio::test(start_paused = true)]
async fn half_of_the_fix_shows_nothing() {
    assert_eq!(waits(slow::routes(OPTIONS).unwrap()).await, 64);
    assert_eq!(waits(limited(true, 1)).await, 64, "as slow");
    assert_eq!(waits(limited(false, 1)).await, 64, "without the lock");
    assert_eq!(waits(limited(true, MOST_CONNECTIONS)).await, 64, "with more connections");
    assert_eq!(waits(limited(false, MOST_CONNECTIONS)).await, 4, "as fixed");
    assert_eq!(waits(fixed::routes(OPTIONS).unwrap()).await, 4);
}

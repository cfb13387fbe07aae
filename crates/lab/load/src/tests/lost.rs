//! Servers that never answer some requests, and servers that only need longer.

use std::{cell::Cell, time::Duration};

use lab_protocol::Arrivals;
use tokio::time::sleep;

use super::{
    closed_loop,
    memory::{Memory, SIX, one_at_a_time, server},
    open_loop, outcome, plan,
};

const ANSWER: Duration = Duration::from_millis(10);
const NEVER: Duration = Duration::from_secs(86_400);

/// Answers each request on its own: in 10 ms, but in `time` if `is_slow` chooses it by its number.
fn slow_for(time: Duration, is_slow: impl Fn(u32) -> bool + 'static) -> Memory {
    let asked = Cell::new(0);
    server(async move || {
        asked.set(asked.get() + 1);
        sleep(if is_slow(asked.get()) { time } else { ANSWER }).await;
        SIX
    })
}

fn hanging(hangs: impl Fn(u32) -> bool + 'static) -> Memory {
    slow_for(NEVER, hangs)
}

/// The lost and the unfinished requests.
async fn lost(arrivals: Arrivals, server: Memory) -> (u64, u64) {
    let outcome = outcome(&plan(arrivals), server).await;
    (outcome.lost, outcome.unfinished)
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_is_lost() {
    // Users hang one by one, the first of them during the warm-up.
    let every_500th = |request: u32| request.is_multiple_of(500);
    let (lost_, unfinished) = lost(closed_loop(8), hanging(every_500th)).await;
    assert_eq!(lost_, unfinished);
    assert!((4..8).contains(&lost_), "{lost_}: 800 requests a second, then fewer");
    // One in 500 of 600 arrivals: the 500th hangs during the measurement.
    assert_eq!(lost(open_loop(100.0, 8), hanging(every_500th)).await, (1, 1));
    // An arrival of the warm-up does not belong to the measurement, so it is lost but not unfinished.
    assert_eq!(lost(open_loop(100.0, 8), hanging(|request| request == 50)).await, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_has_lost_everything() {
    // 160 answers of 500 requests in the measurement, and then silence.
    let stops = |request| request > 320;
    assert_eq!(lost(closed_loop(2), hanging(stops)).await, (2, 2));
    let stops = |request| request > 30_000;
    assert_eq!(lost(closed_loop(3000), hanging(stops)).await, (3000, 3000));
    // Those in the arrival queue too, and four of the warm-up.
    assert_eq!(lost(open_loop(100.0, 4), hanging(|_| true)).await, (504, 500));
}

#[tokio::test(start_paused = true)]
async fn a_saturated_server_has_lost_only_what_hangs() {
    let (lost_, unfinished) = lost(closed_loop(3000), one_at_a_time(ANSWER)).await;
    assert!(lost_ == 0 && unfinished > 2800, "{lost_} of {unfinished}");
    let (lost_, unfinished) = lost(open_loop(200.0, 16), one_at_a_time(ANSWER)).await;
    assert!(lost_ == 0 && unfinished > 400, "{lost_} of {unfinished}");
    // Some answers take long, so that one may still come.
    let slow = slow_for(Duration::from_secs(2), |request| request.is_multiple_of(50));
    let (lost_, unfinished) = lost(open_loop(100.0, 64), slow).await;
    assert!(lost_ == 0 && unfinished > 0, "{lost_} of {unfinished}");

    // The arrival queue explains what is unfinished, but not a request that has hung since the
    // measurement.
    let (lost, unfinished) = lost(open_loop(2000.0, 16), hanging(|request| request == 2000)).await;
    assert!(lost == 1 && unfinished > 1000, "{lost} of {unfinished}");
}

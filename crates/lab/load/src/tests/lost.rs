//! Servers that never answer some requests, and servers that only need longer.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::{io::DuplexStream, sync::Semaphore, time::sleep};

use super::{
    closed_loop,
    memory::{Memory, SIX, serve},
    open_loop, plan,
};
use crate::{Alarm, Arrivals, Dial, Outcome, run_over};

const ANSWER: Duration = Duration::from_millis(10);

/// Answers in 10 ms, each request on its own, but never the ones that `hangs` chooses by their number.
fn hanging(hangs: impl Fn(u32) -> bool + 'static) -> Memory<impl Fn(DuplexStream)> {
    let (asked, hangs) = (Rc::new(Cell::new(0)), Rc::new(hangs));
    Memory::new(move |stream| {
        let (asked, hangs) = (asked.clone(), hangs.clone());
        tokio::task::spawn_local(serve(stream, async move || {
            asked.set(asked.get() + 1);
            if hangs(asked.get()) {
                std::future::pending::<()>().await;
            }
            sleep(ANSWER).await;
            SIX
        }));
    })
}

/// Answers so many requests one after the other, 10 ms each, and then no more.
fn one_at_a_time(most: usize) -> Memory<impl Fn(DuplexStream)> {
    let (turn, left) = (Rc::new(Semaphore::new(1)), Rc::new(Semaphore::new(most)));
    Memory::new(move |stream| {
        let (turn, left) = (turn.clone(), left.clone());
        tokio::task::spawn_local(serve(stream, async move || {
            let _turn = turn.acquire().await.unwrap();
            left.acquire().await.unwrap().forget();
            sleep(ANSWER).await;
            SIX
        }));
    })
}

async fn lost(arrivals: Arrivals, server: impl Dial + Clone + 'static) -> (u64, u64) {
    let outcome: Outcome = run_over(&plan(arrivals), server, Alarm::Ticks).await.unwrap();
    (outcome.lost, outcome.unfinished)
}

/// Users hang one by one, the first of them during the warm-up.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_is_lost() {
    let every_500th = |request: u32| request.is_multiple_of(500);
    let (lost_, unfinished) = lost(closed_loop(8), hanging(every_500th)).await;
    assert_eq!(lost_, unfinished);
    assert!((4..8).contains(&lost_), "{lost_}: 800 requests a second, then fewer");
    // One in 500 of 600 arrivals: the 500th hangs during the measurement.
    assert_eq!(lost(open_loop(100.0, 8), hanging(every_500th)).await, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_arrival_of_the_warm_up_that_is_never_answered_is_lost() {
    // It is no arrival of the measurement, so it is not among the unfinished ones.
    assert_eq!(lost(open_loop(100.0, 8), hanging(|request| request == 50)).await, (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_saturated_server_that_stops_has_lost_everything() {
    assert_eq!(lost(closed_loop(3000), one_at_a_time(300)).await, (3000, 3000));
}

#[tokio::test(start_paused = true)]
async fn a_saturated_server_has_lost_nothing() {
    let (lost_, unfinished) = lost(closed_loop(3000), one_at_a_time(10_000)).await;
    assert!(lost_ == 0 && unfinished > 2800, "{lost_} of {unfinished}");
    let (lost_, unfinished) = lost(open_loop(200.0, 16), one_at_a_time(10_000)).await;
    assert!(lost_ == 0 && unfinished > 400, "{lost_} of {unfinished}");
}

/// The arrival queue explains what is unfinished, but not the request that has been in flight since
/// the measurement.
#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_in_a_saturated_open_loop_is_lost() {
    let (lost, unfinished) = lost(open_loop(2000.0, 16), hanging(|request| request == 2000)).await;
    assert!(lost == 1 && unfinished > 1000, "{lost} of {unfinished}");
}

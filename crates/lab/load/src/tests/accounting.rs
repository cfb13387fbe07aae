//! Every arrival is accounted for, whatever the server does to it.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::{io::DuplexStream, sync::Semaphore, time::sleep};

use super::{
    memory::{Memory, SIX, read_request, serve},
    open_loop, plan,
};
use crate::{Alarm, Dial, Outcome, Plan, run_over};

async fn outcome<D: Dial + Clone + 'static>(plan: &Plan, server: D) -> Outcome {
    let outcome = run_over(plan, server, Alarm::Ticks).await.unwrap();
    let ended = outcome.ok + outcome.wrong + outcome.failed;
    assert_eq!(ended + outcome.unfinished, outcome.sent);
    outcome
}

/// 2,000 arrivals a second, of which the server can serve 1,000: one at a time, 1 ms each.
#[tokio::test(start_paused = true)]
async fn what_a_server_cannot_serve_waits_in_line_and_is_counted() {
    let turn = Rc::new(Semaphore::new(1));
    let server = Memory::new(move |stream| {
        let turn = turn.clone();
        tokio::task::spawn_local(serve(stream, async move || {
            let _turn = turn.acquire().await.unwrap();
            sleep(Duration::from_millis(1)).await;
            SIX
        }));
    });
    let outcome = outcome(&plan(open_loop(2000.0, 16)), server).await;
    assert_eq!(outcome.sent, 10_000, "5 s of 2,000/s");
    assert_eq!((outcome.wrong, outcome.failed), (0, 0));
    // The warm-up leaves 1,000 in line. Of the 6 s that measurement and grace last, the first is
    // spent on them, and the other five on arrivals that count.
    assert!(outcome.ok.abs_diff(5000) <= 20, "{}", outcome.ok);
    assert!((outcome.throughput() - 1000.0).abs() < 5.0, "{}", outcome.throughput());
    let punctuality = outcome.punctuality.unwrap();
    assert_eq!(punctuality.queued, 10_000, "nobody finds a connection free");
    // After 6 s, 12,000 have come and 6,000 were served.
    assert!(punctuality.longest_queue.abs_diff(6000) <= 40, "{punctuality:?}");
    // The last one served was due 3.5 s after the start and served at its 7th second.
    // The first one not served is as old, and the last has waited for the time of grace.
    assert!((outcome.latency.percentile_ms(100.0).unwrap() - 3500.0).abs() < 30.0);
    assert!(
        outcome.youngest_unfinished.unwrap().abs_diff(plan_grace()) < Duration::from_millis(10)
    );
}

fn plan_grace() -> Duration {
    plan(open_loop(1.0, 1)).grace
}

/// Every third answer is wrong, and every fifth connection breaks.
#[tokio::test(start_paused = true)]
async fn wrong_and_failed_arrivals_are_told_apart() {
    let served = Rc::new(Cell::new(0_u32));
    let server = Memory::new(move |mut stream: DuplexStream| {
        let served = served.clone();
        tokio::task::spawn_local(async move {
            while read_request(&mut stream).await {
                served.set(served.get() + 1);
                let answer: &[u8] = match served.get() {
                    count if count % 5 == 0 => return,
                    count if count % 3 == 0 => b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7",
                    _ => SIX,
                };
                tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.unwrap();
            }
        });
    });
    // Of 15: three break, and of the five multiples of 3 one breaks.
    let outcome = outcome(&plan(open_loop(300.0, 4)), server).await;
    assert_eq!(outcome.sent, 1500);
    assert_eq!((outcome.ok, outcome.wrong, outcome.failed), (800, 400, 300));
}

/// A server that never answers leaves nothing but ages.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_charged_for_all_who_came() {
    let server = Memory::new(|stream| {
        tokio::task::spawn_local(serve(stream, async || std::future::pending().await));
    });
    let outcome = outcome(&plan(open_loop(100.0, 4)), server).await;
    assert_eq!((outcome.sent, outcome.unfinished, outcome.ok_in_time), (500, 500, 0));
    // Between the time of grace and the time of grace plus the measurement.
    assert!((outcome.latency.percentile_ms(50.0).unwrap() - 3500.0).abs() < 20.0);
    assert!((outcome.latency.percentile_ms(100.0).unwrap() - 6000.0).abs() < 20.0);
}

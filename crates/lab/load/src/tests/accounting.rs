//! Every arrival is counted, whatever the server does to it.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncWriteExt as _, DuplexStream},
    sync::Semaphore,
    time::sleep,
};

use super::{
    closed_loop,
    memory::{Memory, SIX, read_request, serve},
    open_loop, plan,
};
use crate::{Alarm, Arrivals, Dial, LoadPlan, Outcome, run_over};

async fn outcome<D: Dial + Clone + 'static>(plan: &LoadPlan, server: D) -> Outcome {
    let outcome = run_over(plan, server, Alarm::Ticks).await.unwrap();
    let ended = outcome.ok + outcome.wrong + outcome.failed;
    assert_eq!(ended + outcome.unfinished, outcome.sent);
    outcome
}

/// 2,000 arrivals a second at a server that handles 1,000: one at a time, 1 ms each.
#[tokio::test(start_paused = true)]
async fn arrivals_beyond_the_servers_capacity_queue_and_are_counted() {
    let turn = Rc::new(Semaphore::new(1));
    let server = Memory::new(move |stream| {
        let turn = turn.clone();
        tokio::task::spawn_local(serve(stream, async move || {
            let _turn = turn.acquire().await.unwrap();
            sleep(Duration::from_millis(1)).await;
            SIX
        }));
    });
    let plan = plan(open_loop(2000.0, 16));
    let outcome = outcome(&plan, server).await;
    assert_eq!(outcome.sent, 10_000, "5 s of 2,000/s");
    assert_eq!((outcome.wrong, outcome.failed), (0, 0));
    // The warm-up leaves 1,000 in the queue. Measurement and grace last 6 s: the first is spent on
    // those, the other five on arrivals that count.
    assert!(outcome.ok.abs_diff(5000) <= 20, "{}", outcome.ok);
    assert!((outcome.throughput() - 1000.0).abs() < 5.0, "{}", outcome.throughput());
    assert_eq!(outcome.punctuality.unwrap().queued, 10_000, "no connection is ever free");
    // The last one served was due 3.5 s after the start and answered at 7 s. The first one not
    // served is equally old, and the youngest has waited for the whole grace.
    assert!((outcome.latency.max_ms().unwrap() - 3500.0).abs() < 30.0);
    let youngest = outcome.youngest_unfinished.unwrap();
    assert!(youngest.abs_diff(plan.grace) < Duration::from_millis(10));
}

/// Every third answer is wrong, and every fifth connection breaks.
#[tokio::test(start_paused = true)]
async fn wrong_and_failed_arrivals_are_counted_apart() {
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
                stream.write_all(answer).await.unwrap();
            }
        });
    });
    // Of 15: three break, and of the five multiples of 3 one breaks.
    let outcome = outcome(&plan(open_loop(300.0, 4)), server).await;
    assert_eq!(outcome.sent, 1500);
    assert_eq!((outcome.ok, outcome.wrong, outcome.failed), (800, 400, 300));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_charged_for_every_arrival() {
    let server = Memory::new(|stream| {
        tokio::task::spawn_local(serve(stream, async || std::future::pending().await));
    });
    let outcome = outcome(&plan(open_loop(100.0, 4)), server).await;
    assert_eq!((outcome.sent, outcome.unfinished, outcome.ok_in_time), (500, 500, 0));
    // Ages range from the grace to the grace plus the measurement.
    assert!((outcome.latency.percentile_ms(50.0).unwrap() - 3500.0).abs() < 20.0);
    assert!((outcome.latency.max_ms().unwrap() - 6000.0).abs() < 20.0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_its_connections_is_visible() {
    const CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n6";
    let server = |answer: &'static [u8]| {
        Memory::new(move |stream| {
            tokio::task::spawn_local(serve(stream, async move || {
                sleep(Duration::from_millis(10)).await;
                answer
            }));
        })
    };
    let reopened = async |arrivals: Arrivals, answer| {
        run_over(&plan(arrivals), server(answer), Alarm::Ticks).await.unwrap().reopened
    };
    for arrivals in [closed_loop(1), open_loop(100.0, 8)] {
        assert_eq!(reopened(arrivals, SIX).await, 0);
        let times = reopened(arrivals, CLOSE).await;
        assert!(
            (580..=600).contains(&times),
            "{times} in six seconds, each after the first answer"
        );
    }
}

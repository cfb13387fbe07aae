//! Every arrival is counted, whatever the server does to it.

use std::{cell::Cell, rc::Rc, time::Duration};

use lab_protocol::{Answer, Request};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream},
    time::sleep,
};

use super::{
    closed_loop,
    memory::{Memory, SIX, one_at_a_time, read_request, server, silent},
    open_loop, outcome, plan,
};

/// 2,000 arrivals a second at a server that handles 1,000: one at a time, 1 ms each.
#[tokio::test(start_paused = true)]
async fn arrivals_beyond_the_servers_capacity_queue_and_are_counted() {
    let plan = plan(open_loop(2000.0, 16));
    let outcome = outcome(&plan, one_at_a_time(Duration::from_millis(1))).await;
    assert_eq!(outcome.sent, 10_000, "5 s of 2,000/s");
    assert_eq!((outcome.wrong, outcome.failed), (0, 0));
    // The warm-up leaves 1,000 in the queue. Measurement and grace last 6 s: the first is spent on
    // those, the other five on arrivals that count.
    assert!(outcome.ok.abs_diff(5000) <= 20, "{}", outcome.ok);
    assert!((outcome.throughput() - 1000.0).abs() < 5.0, "{}", outcome.throughput());
    assert_eq!(outcome.punctuality.unwrap().queued, 10_000, "no connection is ever free");
    // The last one served was due 3.5 s after the start and answered at 7 s. The first one not
    // served is equally old, and the youngest has waited for the whole grace.
    assert!((outcome.latency.quantile_ms(100.0).unwrap() - 3500.0).abs() < 30.0);
    let youngest = outcome.youngest_unfinished.unwrap();
    assert!(youngest.abs_diff(plan.grace) < Duration::from_millis(10));
}

/// Every third answer is wrong, and every fifth breaks off.
#[tokio::test(start_paused = true)]
async fn wrong_and_failed_arrivals_are_counted_apart() {
    let served = Rc::new(Cell::new(0_u32));
    let server = Memory::new(move |mut stream: DuplexStream| {
        let served = served.clone();
        tokio::task::spawn_local(async move {
            while read_request(&mut stream).await {
                served.set(served.get() + 1);
                let answer: &[u8] = match served.get() {
                    count if count % 5 == 0 => {
                        stream.write_all(&SIX[..1]).await.unwrap();
                        return;
                    }
                    count if count % 3 == 0 => b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7",
                    _ => SIX,
                };
                stream.write_all(answer).await.unwrap();
            }
        });
    });
    // Of 15: three break, and of the five multiples of 3 one breaks. Of the 300 arrivals of the warm-up, these
    // faults count, too.
    let outcome = outcome(&plan(open_loop(300.0, 4)), server).await;
    assert_eq!(outcome.sent, 1500 + 80 + 60);
    assert_eq!((outcome.ok, outcome.wrong, outcome.failed), (800, 400 + 80, 300 + 60));
}

/// Each connection answers one request after 10 ms, and closes 10 ms after it got the next one.
#[tokio::test(start_paused = true)]
async fn the_latency_of_a_request_that_was_sent_again_counts_from_the_first_time() {
    let server = Memory::new(|mut stream: DuplexStream| {
        tokio::task::spawn_local(async move {
            read_request(&mut stream).await;
            sleep(Duration::from_millis(10)).await;
            stream.write_all(SIX).await.unwrap();
            read_request(&mut stream).await;
            sleep(Duration::from_millis(10)).await;
        });
    });
    let outcome = outcome(&plan(closed_loop(1)), server).await;
    assert_eq!((outcome.failed, outcome.reopened), (0, outcome.resent));
    assert!(outcome.resent.abs_diff(300) < 5, "{} in six seconds", outcome.resent);
    assert!((outcome.latency.percentile_ms(50.0).unwrap() - 20.0).abs() < 0.5);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_charged_for_every_arrival() {
    let outcome = outcome(&plan(open_loop(100.0, 4)), silent()).await;
    assert_eq!((outcome.sent, outcome.unfinished, outcome.ok_in_time), (500, 500, 0));
    // Ages range from the grace to the grace plus the measurement.
    assert!((outcome.latency.percentile_ms(50.0).unwrap() - 3500.0).abs() < 20.0);
    assert!((outcome.latency.quantile_ms(100.0).unwrap() - 6000.0).abs() < 20.0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_its_connections_is_visible() {
    const CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n6";
    for arrivals in [closed_loop(1), open_loop(100.0, 8)] {
        for (answer, expected) in [(SIX, 0), (CLOSE, 600_u64)] {
            let server = server(async move || {
                sleep(Duration::from_millis(10)).await;
                answer
            });
            let reopened = outcome(&plan(arrivals), server).await.reopened;
            assert!(reopened.abs_diff(expected) <= expected / 30, "{reopened} in six seconds");
        }
    }
}

/// A server whose answers are 6 and 7 in turn, each after a millisecond.
#[tokio::test(start_paused = true)]
async fn requests_in_turn_are_a_visit_each() {
    let is_seven = Cell::new(false);
    let server = server(async move || {
        sleep(Duration::from_millis(1)).await;
        if is_seven.replace(!is_seven.get()) {
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7"
        } else {
            SIX
        }
    });
    let mut plan = plan(closed_loop(1));
    plan.requests.push(Request::get("/", Answer::Text("7".to_owned())));
    plan.options.in_turn = true;
    let outcome = outcome(&plan, server).await;
    assert_eq!((outcome.wrong, outcome.failed), (0, 0), "{:?}", outcome.first_fault);
    assert!(outcome.ok.abs_diff(5000) <= 2, "a visit of both would take twice as long");
}

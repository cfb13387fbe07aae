//! A server that stalls for 200 ms in every second: what users suffer is known from its schedule,
//! so a generator can be told that sees it from one that does not.

use std::time::Duration;

use tokio::{
    net::TcpListener,
    time::{Instant, sleep_until},
};

use super::{
    memory::{Memory, SIX, serve},
    open_loop, plan,
};
use crate::{Alarm, Arrivals, Latency, Load, run_over};

const SECOND: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_millis(200);
/// Arrivals per second.
const RATE: u64 = 1000;

/// When a request is answered that comes so long after the server's start.
fn answered(comes: Duration) -> Duration {
    let second = Duration::from_secs(comes.as_secs());
    comes.max(second + STALL)
}

/// Comes to the answer when the server is not stalled.
async fn answer(start: Instant) -> &'static [u8] {
    let now = Instant::now();
    let end = start + answered(now - start);
    // A timer that has run out already would still take a tick.
    if end > now {
        sleep_until(end).await;
    }
    SIX
}

fn in_memory(start: Instant) -> Memory<impl Fn(tokio::io::DuplexStream)> {
    Memory::new(move |stream| {
        tokio::task::spawn_local(serve(stream, async move || answer(start).await));
    })
}

/// What the arrivals of five seconds suffer, from the schedules of server and generator alone.
fn truth() -> Latency {
    let mut truth = Latency::default();
    for arrival in 0..5 * RATE {
        let due = SECOND * arrival as u32 / RATE as u32;
        truth.record(answered(due) - due);
    }
    truth
}

/// One connection has to queue whatever arrives; with 300, none queues: the truth is the same.
#[tokio::test(start_paused = true)]
async fn an_open_loop_sees_the_whole_stall() {
    let truth = truth();
    assert_eq!(truth.percentile_ms(90.0).unwrap().round(), 100.0);
    assert_eq!(truth.percentile_ms(99.0).unwrap().round(), 190.0);
    for (connections, queued, longest_queue) in [(1, 199, 199), (32, 168, 168), (256, 0, 0)] {
        let plan = plan(open_loop(RATE as f64, connections));
        // Connections are opened in batches with pauses between them: the server's first second
        // begins with the schedule.
        let start = Instant::now() + Duration::from_millis(2) * (connections / 64) as u32;
        let outcome = run_over(&plan, in_memory(start), Alarm::Ticks).await.unwrap();
        assert_eq!((outcome.sent, outcome.ok, outcome.unfinished), (5 * RATE, 5 * RATE, 0));
        for percent in [50.0, 80.0, 81.0, 90.0, 99.0, 99.9, 100.0] {
            let (found, truth) =
                (outcome.latency.percentile_ms(percent), truth.percentile_ms(percent));
            assert_eq!(found, truth, "p{percent} with {connections} connections");
        }
        let punctuality = outcome.punctuality.unwrap();
        assert_eq!(punctuality.lag_max_ms, 0.001, "the least that is recorded");
        // The arrival at the very end of a stall may come before or after the line has gone.
        assert!(punctuality.queued.abs_diff(5 * queued) <= 5, "{punctuality:?}");
        assert!(punctuality.longest_queue.abs_diff(longest_queue) <= 1, "{punctuality:?}");
        assert_eq!(outcome.invalid, None);
    }
}

/// The same server, the same rate while it answers: a user who waits does not ask, so one request
/// in about 800 meets the stall, and the percentiles never see it.
#[tokio::test(start_paused = true)]
async fn a_closed_loop_hardly_sees_the_stall() {
    let load = Load { users: 1, think_ms: 1, connections: 1 };
    let plan = plan(Arrivals::ClosedLoop(load));
    let outcome = run_over(&plan, in_memory(Instant::now()), Alarm::Ticks).await.unwrap();
    assert_eq!(outcome.latency.percentile_ms(99.0), Some(0.001));
    assert!(outcome.latency.percentile_ms(100.0).unwrap() > 198.0);
    assert!((4000..=4010).contains(&outcome.sent), "{} instead of 5,000", outcome.sent);
}

/// The same over TCP and in real time; the machine has to be quiet. Shows the figures with
/// `cargo test --release --package lab real_stall -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "measures real time, so a busy machine fails it"]
async fn a_real_stall_is_seen_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut plan = plan(open_loop(RATE as f64, 32));
    plan.target = listener.local_addr().unwrap();
    let start = Instant::now();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(serve(stream, async move || answer(start).await));
        }
    });
    let outcome = crate::run(&plan).await.unwrap();
    let (latency, truth) = (&outcome.latency, truth());
    for percent in [50.0, 90.0, 99.0, 99.9] {
        let (found, truth) =
            (latency.percentile_ms(percent).unwrap(), truth.percentile_ms(percent).unwrap());
        eprintln!("p{percent}: {found:.2} ms, in truth {truth:.2} ms");
        assert!((found - truth).abs() < 10.0);
    }
    eprintln!("{:?}, CPU share {:.3}", outcome.punctuality, outcome.generator_share().unwrap());
    assert_eq!((outcome.sent, outcome.ok), (5 * RATE, 5 * RATE));
}

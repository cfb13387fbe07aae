//! A server that stalls for 200 ms in every second. Its schedule gives the true latencies, so a
//! generator that misses the stall is detected.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{
    memory::{Memory, SIX, serve},
    open_loop, plan,
};
use crate::{Alarm, Arrivals, Latency, Load, run_over};

const SECOND: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_millis(200);
/// Arrivals per second.
const RATE: u64 = 1000;

/// When a request that comes this long after the server's start is answered.
fn answered(comes: Duration) -> Duration {
    let second = Duration::from_secs(comes.as_secs());
    comes.max(second + STALL)
}

fn server(start: Instant) -> Memory<impl Fn(tokio::io::DuplexStream)> {
    Memory::new(move |stream| {
        tokio::task::spawn_local(serve(stream, async move || {
            let now = Instant::now();
            let end = start + answered(now - start);
            // A timer that has already expired would still take a tick.
            if end > now {
                sleep_until(end).await;
            }
            SIX
        }));
    })
}

/// The latencies of five seconds of arrivals, from the schedules of server and generator alone.
fn truth() -> Latency {
    let mut truth = Latency::default();
    for arrival in 0..5 * RATE {
        let due = SECOND * arrival as u32 / RATE as u32;
        truth.record(answered(due) - due);
    }
    truth
}

/// With one connection nearly everything queues, with 256 nothing does. The latencies are the same.
#[tokio::test(start_paused = true)]
async fn an_open_loop_sees_the_whole_stall() {
    let truth = truth();
    assert_eq!(truth.percentile_ms(90.0).unwrap().round(), 100.0);
    assert_eq!(truth.percentile_ms(99.0).unwrap().round(), 190.0);
    for (connections, queued) in [(1, 199), (32, 168), (256, 0)] {
        let plan = plan(open_loop(RATE as f64, connections));
        // Connections are opened in batches with pauses. The server's first second begins when the
        // schedule does.
        let start = Instant::now() + Duration::from_millis(2) * (connections / 64) as u32;
        let outcome = run_over(&plan, server(start), Alarm::Ticks).await.unwrap();
        assert_eq!((outcome.sent, outcome.ok, outcome.unfinished), (5 * RATE, 5 * RATE, 0));
        for percent in [50.0, 80.0, 81.0, 90.0, 99.0] {
            let (found, truth) =
                (outcome.latency.percentile_ms(percent), truth.percentile_ms(percent));
            assert_eq!(found, truth, "p{percent} with {connections} connections");
        }
        let punctuality = outcome.punctuality.unwrap();
        assert_eq!(punctuality.lag_p99_ms, 0.001, "the lowest value that is recorded");
        // The arrival at the very end of a stall may come before or after the queue is empty.
        assert!(punctuality.queued.abs_diff(5 * queued) <= 5, "{punctuality:?}");
        assert_eq!(outcome.invalid, None);
    }
}

/// The same server and the same rate. A user who waits sends nothing, so one request in about 800
/// meets the stall, and the percentiles miss it.
#[tokio::test(start_paused = true)]
async fn a_closed_loop_hardly_sees_the_stall() {
    let load = Load { users: 1, think_ms: 1, connections: 1 };
    let plan = plan(Arrivals::ClosedLoop(load));
    let outcome = run_over(&plan, server(Instant::now()), Alarm::Ticks).await.unwrap();
    assert_eq!(outcome.latency.percentile_ms(99.0), Some(0.001));
    assert!(outcome.latency.max_ms().unwrap() > 198.0);
    assert!((4000..=4010).contains(&outcome.sent), "{} instead of 5,000", outcome.sent);
}

//! Servers whose latencies are known: one stalls for 200 ms in every second, and one has a queue. A
//! generator that misses the stall or the queue is detected.

use std::time::Duration;

use lab_protocol::{Arrivals, Background, Latency, Load, LoadPlan, OpenLoop, Outcome, Spacing};
use tokio::time::{Instant, sleep_until};

use super::{
    ask,
    memory::{Memory, SIX, one_at_a_time, server},
    open_loop, outcome, plan,
};

const SECOND: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_millis(200);
/// Arrivals per second.
const RATE: u64 = 1000;

/// When a request that comes this long after the server's start is answered.
fn answered(comes: Duration) -> Duration {
    let second = Duration::from_secs(comes.as_secs());
    comes.max(second + STALL)
}

fn stalling(start: Instant) -> Memory {
    server(async move || {
        let now = Instant::now();
        let end = start + answered(now - start);
        // A timer that has already expired would still take a tick.
        if end > now {
            sleep_until(end).await;
        }
        SIX
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
        let outcome = outcome(&plan, stalling(start)).await;
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

/// Server and rate are those of the open loop. A user who waits sends nothing, so one request in about 800
/// meets the stall, and the percentiles miss it.
#[tokio::test(start_paused = true)]
async fn a_closed_loop_hardly_sees_the_stall() {
    let load = Load { users: 1, think_ms: 1, connections: 1 };
    let plan = plan(Arrivals::ClosedLoop(load));
    let outcome = outcome(&plan, stalling(Instant::now())).await;
    assert_eq!(outcome.latency.percentile_ms(99.0), Some(0.001));
    assert!(outcome.latency.quantile_ms(100.0).unwrap() > 198.0);
    assert!((4000..=4010).contains(&outcome.sent), "{} instead of 5,000", outcome.sent);
}

/// Of a server that answers one request at a time, 50 ms each. Twice a second, a request of the background
/// is in the way of one that counts.
fn arrivals(rate_per_s: f64) -> OpenLoop {
    match open_loop(rate_per_s, 8) {
        Arrivals::OpenLoop(load) => load,
        Arrivals::ClosedLoop(_) => unreachable!(),
    }
}

fn counts(of: &Outcome) -> (u64, u64, u64, u64) {
    (of.sent, of.ok, of.wrong, of.latency.count())
}

#[tokio::test(start_paused = true)]
async fn requests_in_the_background_occupy_the_server() {
    let plan = plan(Arrivals::OpenLoop(arrivals(10.0)));
    let alone = outcome(&plan, one_at_a_time(Duration::from_millis(50))).await;
    let background = vec![Background { arrivals: arrivals(2.0), request: ask() }];
    let plan = LoadPlan { background, ..plan };
    let next_to_others = outcome(&plan, one_at_a_time(Duration::from_millis(50))).await;
    assert_eq!([&alone, &next_to_others].map(counts), [(50, 50, 0, 50); 2]);
    assert_eq!([&alone, &next_to_others].map(|it| it.background_in_time), [0, 10]);
    assert_eq!([&alone, &next_to_others].map(|it| it.background_sent), [0, 10]);
    let slowest = [&alone, &next_to_others].map(|it| it.latency.quantile_ms(100.0).unwrap());
    assert!(slowest[0] < 55.0 && slowest[1] > 95.0, "{slowest:?}");
}

#[tokio::test(start_paused = true)]
async fn only_the_faults_of_requests_in_the_background_count() {
    let mut other = ask();
    other.expected.status = 201;
    let background = vec![Background { arrivals: arrivals(2.0), request: other }];
    let plan = LoadPlan { background, ..plan(Arrivals::OpenLoop(arrivals(10.0))) };
    let wrong = outcome(&plan, one_at_a_time(Duration::from_millis(50))).await;
    // Ten during the measurement, and two during the warm-up.
    assert_eq!(counts(&wrong), (62, 50, 12, 50));
}

/// A server that answers one request at a time, 50 ms each, at half its capacity. The theory of this
/// queue (M/D/1) gives a mean wait of 25 ms and a p90 of about 125 ms.
#[tokio::test(start_paused = true)]
async fn random_arrivals_show_the_queue_that_even_ones_hide() {
    let at = async |spacing| {
        let load = OpenLoop { spacing, ..OpenLoop::new(10.0, 64) };
        let measurement = Duration::from_secs(300);
        let plan = LoadPlan { measurement, ..plan(Arrivals::OpenLoop(load)) };
        outcome(&plan, one_at_a_time(Duration::from_millis(50))).await
    };
    let [even, random] = [at(Spacing::Even).await, at(Spacing::default()).await];
    let p90 = |outcome: &Outcome| outcome.latency.percentile_ms(90.0).unwrap();
    assert!((50.0..53.0).contains(&p90(&even)), "{}", p90(&even));
    assert!((110.0..140.0).contains(&p90(&random)), "{}", p90(&random));
    assert_eq!((random.unfinished, random.lost), (0, 0));
    // 3,000 arrivals, with a standard deviation of 55.
    assert!(random.sent.abs_diff(3000) < 165, "{}", random.sent);
}

//! Loads that end before their time.

use std::{cell::Cell, time::Duration};

use lab_model::{LoadPlan, StopWhen};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    evenly,
    memory::{Memory, SIX, server, silent},
    open_loop, outcome, plan,
    visits::{kind, plan_of},
};

const BEHIND: StopWhen = StopWhen { behind: Some(Duration::from_millis(500)), wrong: false };
const WRONG: StopWhen = StopWhen { behind: None, wrong: true };
const MS: Duration = Duration::from_millis(1);
const OOPS: &[u8] = b"HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno";

/// Answers in 10 ms, but after `from`, counted from now, not before `until`.
fn pausing(from: Duration, until: Duration) -> Memory {
    let start = Instant::now();
    server(async move || {
        sleep(10 * MS).await;
        if start.elapsed() > from && start.elapsed() < until {
            sleep_until(start + until).await;
        }
        SIX
    })
}

/// A hundred arrivals per second, for a second of warm-up and five of measurement.
fn plan_until(stop: StopWhen) -> LoadPlan {
    LoadPlan { stop_when: Some(stop), ..plan(open_loop(100.0, 64)) }
}

#[tokio::test(start_paused = true)]
async fn a_load_stops_when_an_arrival_has_no_answer_for_too_long() {
    // The arrival of 1.995 s, which is due at 2.00 s at the latest, is the first of those that wait.
    let hanging = || pausing(Duration::from_millis(2005), Duration::from_secs(60));
    let begin = Instant::now();
    let stopped = outcome(&plan_until(BEHIND), hanging()).await;
    let at = stopped.stopped.unwrap();
    assert!(at.abs_diff(1500 * MS) <= 12 * MS, "{at:?}");
    assert_eq!(stopped.measured, at);
    // All 150 that were due until then; those of the last half second have no answer.
    assert!(stopped.sent.abs_diff(150) <= 1, "{}", stopped.sent);
    assert!(stopped.unfinished.abs_diff(50) <= 1, "{}", stopped.unfinished);
    assert!((stopped.throughput() - 100.0 / 1.5).abs() < 2.0);
    // A second of grace follows.
    assert!(begin.elapsed().abs_diff(3500 * MS) < 30 * MS, "{:?}", begin.elapsed());

    // Without the condition, or with a shorter pause, the load runs to its end.
    let usual = outcome(&plan(open_loop(100.0, 64)), hanging()).await;
    assert_eq!((usual.stopped, usual.sent), (None, 500));
    let short = pausing(Duration::from_millis(2005), Duration::from_millis(2480));
    let patient = outcome(&plan_until(BEHIND), short).await;
    assert_eq!((patient.stopped, patient.sent, patient.ok), (None, 500, 500));
}

/// The arrival queue counts, too: a server that answers 50 of 100 arrivals per second is behind by half of
/// the time that has passed.
#[tokio::test(start_paused = true)]
async fn arrivals_that_wait_for_a_connection_are_behind() {
    let slow = server(async || {
        sleep(20 * MS).await;
        SIX
    });
    let plan = LoadPlan { stop_when: Some(BEHIND), ..plan(open_loop(100.0, 1)) };
    let plan = LoadPlan { warm_up: Duration::ZERO, ..plan };
    let outcome = outcome(&plan, slow).await;
    let at = outcome.stopped.unwrap();
    // At `t`, the oldest without an answer is the one of `t / 2`.
    assert!(at.abs_diff(1000 * MS) <= 40 * MS, "{at:?}");
    assert_eq!(outcome.visits, None);
}

#[tokio::test(start_paused = true)]
async fn a_load_stops_at_the_first_wrong_answer() {
    let answer_wrong = |nth| {
        let asked = Cell::new(0);
        server(async move || {
            asked.set(asked.get() + 1);
            let nth_now = asked.get();
            sleep(10 * MS).await;
            if nth_now == nth { OOPS } else { SIX }
        })
    };
    let visits = plan_of(vec![kind("pay", 1.0, &[&["/cart"]])], evenly(100.0, 64));
    let plan = LoadPlan { stop_when: Some(WRONG), ..visits };
    // The arrival 251 is due after 2.5 s, of which one was the warm-up.
    let stopped = outcome(&plan, answer_wrong(251)).await;
    let at = stopped.stopped.unwrap();
    assert!(at.abs_diff(1510 * MS) <= 3 * MS, "{at:?}");
    assert_eq!((stopped.wrong, stopped.unfinished), (1, 0), "grace is long enough for the others");
    let fault = stopped.first_fault.unwrap();
    assert_eq!(fault, "visit `pay`: GET /cart: status 500 instead of 200: no");
    assert_eq!(stopped.visits.unwrap().kind.len() as u64, stopped.sent);

    let usual = outcome(&LoadPlan { stop_when: None, ..plan.clone() }, answer_wrong(251)).await;
    assert_eq!((usual.stopped, usual.sent, usual.wrong), (None, 500, 1));
    // `behind` does not stop at a wrong answer.
    let other = LoadPlan { stop_when: Some(BEHIND), ..plan };
    assert_eq!(outcome(&other, answer_wrong(251)).await.stopped, None);
}

#[tokio::test(start_paused = true)]
async fn a_load_that_stops_in_the_warm_up_measures_a_millisecond() {
    let begin = Instant::now();
    let plan = LoadPlan { stop_when: Some(BEHIND), ..plan(open_loop(2000.0, 64)) };
    let outcome = outcome(&plan, silent()).await;
    let at = outcome.stopped.unwrap();
    assert!((MS..=3 * MS).contains(&at), "{at:?}");
    assert!((1..=6).contains(&outcome.sent), "{}", outcome.sent);
    // Half a second, the grace, and no measurement.
    assert!(begin.elapsed().abs_diff(1500 * MS) < 20 * MS, "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_load_that_stops_does_not_wait_for_the_next_arrival() {
    let wrong = server(async || {
        sleep(10 * MS).await;
        OOPS
    });
    let begin = Instant::now();
    let plan = LoadPlan { stop_when: Some(WRONG), ..plan(open_loop(0.25, 1)) };
    let outcome = outcome(&LoadPlan { warm_up: Duration::ZERO, ..plan }, wrong).await;
    assert_eq!((outcome.sent, outcome.wrong), (1, 1));
    assert!(begin.elapsed() < 100 * MS, "the next one is due after 4 s: {:?}", begin.elapsed());
}

//! Loads that end before their time.

use std::{cell::Cell, time::Duration};

use lab_protocol::{LoadPlan, StopWhen};
use tokio::time::{Instant, sleep};

use super::{
    evenly,
    memory::{SIX, server},
    open_loop, outcome, plan,
    visits::{kind, plan_of},
};

const WRONG: StopWhen = StopWhen { wrong: true };
const MS: Duration = Duration::from_millis(1);
const OOPS: &[u8] = b"HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\nno";

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
    let other = LoadPlan { stop_when: Some(StopWhen::default()), ..plan };
    assert_eq!(outcome(&other, answer_wrong(251)).await.stopped, None, "without the condition");
}

#[tokio::test(start_paused = true)]
async fn a_load_that_stops_in_the_warm_up_measures_a_millisecond() {
    let begin = Instant::now();
    let wrong = server(async || {
        sleep(500 * MS).await;
        OOPS
    });
    let plan = LoadPlan { stop_when: Some(WRONG), ..plan(open_loop(2000.0, 64)) };
    let outcome = outcome(&plan, wrong).await;
    let at = outcome.stopped.unwrap();
    assert!((MS..=3 * MS).contains(&at), "{at:?}");
    // Half a second until the first answer, at most a second of grace, and no measurement.
    assert!(begin.elapsed() < 1600 * MS, "{:?}", begin.elapsed());
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

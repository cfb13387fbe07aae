//! A server with a queue: one request at a time, 50 ms each, at half its capacity.

use std::{rc::Rc, time::Duration};

use tokio::{sync::Semaphore, time::sleep};

use super::{
    memory::{Memory, SIX, serve},
    plan,
};
use crate::{Alarm, Arrivals, LoadPlan, OpenLoop, Outcome, Spacing, run_over};

const RATE: f64 = 10.0;
const SECONDS: u64 = 300;

async fn outcome(spacing: Spacing) -> Outcome {
    let turn = Rc::new(Semaphore::new(1));
    let server = Memory::new(move |stream| {
        let turn = turn.clone();
        tokio::task::spawn_local(serve(stream, async move || {
            let _turn = turn.acquire().await.unwrap();
            sleep(Duration::from_millis(50)).await;
            SIX
        }));
    });
    let load = OpenLoop { rate_per_s: RATE, connections: 64, connections_per_user: 1, spacing };
    let measurement = Duration::from_secs(SECONDS);
    let plan = LoadPlan { measurement, ..plan(Arrivals::OpenLoop(load)) };
    run_over(&plan, server, Alarm::Ticks).await.unwrap()
}

/// The theory of this queue (M/D/1) gives a mean wait of 25 ms and a p90 of about 125 ms.
#[tokio::test(start_paused = true)]
async fn evenly_spaced_arrivals_hide_the_queue() {
    let even = outcome(Spacing::Even).await;
    let random = outcome(Spacing::default()).await;
    let p90 = |outcome: &Outcome| outcome.latency.percentile_ms(90.0).unwrap();
    assert!((50.0..53.0).contains(&p90(&even)), "{}", p90(&even));
    assert!((110.0..140.0).contains(&p90(&random)), "{}", p90(&random));
    assert_eq!((random.unfinished, random.lost), (0, 0));
    // 3,000 arrivals, with a standard deviation of 55.
    assert!(random.sent.abs_diff(SECONDS * RATE as u64) < 165, "{}", random.sent);
}

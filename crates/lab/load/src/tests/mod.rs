//! The generator against servers in memory. With a paused clock, every latency is known exactly.

mod accounting;
mod allocations;
mod connection;
mod http2;
mod lost;
mod malformed;
mod memory;
mod remembering;
mod stalls;
mod stopping;
pub mod visits;

use std::time::Duration;

use lab_protocol::{Answer, Arrivals, Load, LoadPlan, OpenLoop, Outcome, Request, Spacing};
use memory::Memory;

use super::{Alarm, run_over};

/// `GET /`, whose right answer is `6`.
fn ask() -> Request {
    Request::get("/", Answer::Text("6".to_owned()))
}

/// One second of warm-up, five of measurement, one of grace.
fn plan(arrivals: Arrivals) -> LoadPlan {
    let target = std::net::SocketAddr::from(([127, 0, 0, 1], 80));
    LoadPlan {
        server_pid: Some(std::process::id()),
        warm_up: Duration::from_secs(1),
        measurement: Duration::from_secs(5),
        grace: Duration::from_secs(1),
        ..LoadPlan::new(target.into(), vec![ask()], arrivals)
    }
}

async fn outcome(plan: &LoadPlan, server: Memory) -> Outcome {
    let outcome = run_over(plan, server, || Alarm::Ticks).await.unwrap();
    let ended = outcome.ok + outcome.wrong + outcome.failed;
    assert_eq!(ended + outcome.unfinished, outcome.sent);
    outcome.check(plan, plan.warm_up + plan.measurement + plan.grace).unwrap();
    outcome
}

/// Users with one connection each, who do not pause.
fn closed_loop(users: usize) -> Arrivals {
    Arrivals::ClosedLoop(Load { users, think_ms: 0, connections: 1 })
}

/// Evenly spaced arrivals.
fn open_loop(rate_per_s: f64, connections: usize) -> Arrivals {
    Arrivals::OpenLoop(evenly(rate_per_s, connections))
}

fn evenly(rate_per_s: f64, connections: usize) -> OpenLoop {
    OpenLoop { spacing: Spacing::Even, ..OpenLoop::new(rate_per_s, connections) }
}

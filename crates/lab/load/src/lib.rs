//! The load generator and the laboratory's only HTTP client.
//!
//! A [`LoadPlan`] goes in and an [`Outcome`] comes out. A *closed loop* has users who wait for each
//! answer; in an *open loop*, arrivals keep coming at a mean rate whatever the server does. The
//! generator runs in a process of its own, so that its CPU time is separate from the laboratory's.

#![warn(clippy::missing_errors_doc)]

mod account;
mod alarm;
mod arrival_queue;
mod closed_loop;
mod connection;
mod dial;
mod exchange;
mod fetch;
mod heartbeat;
mod http;
mod http2;
mod meter;
mod open_loop;
mod request_times;
mod stop;
#[cfg(test)]
mod tests;
mod tls;
mod user_memory;
mod visit_draw;
mod visit_log;
mod visitor;

use anyhow::Context as _;
use futures_util::future::{LocalBoxFuture, try_join_all};
use lab_protocol::{Arrivals, LoadPlan, Outcome};
use tokio::task::LocalSet;

use alarm::Alarm;

pub use self::http::{IN_TLS, WEBSOCKET, WireRequest};
pub use connection::{Connection, Fault, Fetched, LONGEST_BODY};
pub use dial::{Dial, Tcp};
pub use exchange::TooLong;
pub use fetch::{NO_ANSWER, PATIENCE, address, get, get_text, is_ready, needs_http2, resolve};
pub use request_times::request_names;
pub use tls::{Net, speaks_tls};
pub use user_memory::parts_of_all;
pub use visitor::Visitor;

/// Puts the load of `plan` on its server.
///
/// Everything runs on the calling thread: one clock, no locks, and a CPU share that can be measured.
///
/// # Errors
///
/// If the plan or a request is invalid, or if a first connection fails. Later faults are counted in the outcome.
///
/// The future is boxed so that the generator is compiled in this crate, which is optimized. The code of
/// an `async fn` is compiled where it is awaited.
pub fn run(plan: &LoadPlan) -> LocalBoxFuture<'_, anyhow::Result<Outcome>> {
    let tcp = Tcp { address: plan.target.address, quick_ack: plan.options.quick_ack };
    match plan.target.tls {
        None => Box::pin(run_over(plan, tcp, Alarm::precise)),
        Some(_) => Box::pin(async { run_over(plan, Net::to(&plan.target)?, Alarm::precise).await }),
    }
}

async fn run_over<D>(plan: &LoadPlan, dial: D, alarm: fn() -> Alarm) -> anyhow::Result<Outcome>
where
    D: Dial + Clone + 'static,
{
    plan.check().context("the load plan is invalid")?;
    lab_system::allow_own_connections(plan.connections())?;
    let others = plan.background.iter().map(|other| {
        let requests = vec![other.request.clone()];
        (other.arrivals, LoadPlan { requests, server_pid: None, ..plan.clone() })
    });
    let others: Vec<_> = others.collect();
    LocalSet::new()
        .run_until(async {
            let others = others
                .iter()
                .map(|(load, plan)| open_loop::run(plan, *load, dial.clone(), alarm()));
            let load = async {
                match &plan.arrivals {
                    Arrivals::ClosedLoop(load) => closed_loop::run(plan, *load, dial.clone()).await,
                    Arrivals::OpenLoop(load) => {
                        open_loop::run(plan, *load, dial.clone(), alarm()).await
                    }
                }
            };
            let (mut outcome, others) = tokio::try_join!(load, try_join_all(others))?;
            others.iter().for_each(|other| add_background(&mut outcome, other));
            Ok(outcome)
        })
        .await
}

/// Requests in the background have figures of their own. Only those without a right answer count as requests.
fn add_background(outcome: &mut Outcome, other: &Outcome) {
    outcome.background_sent += other.sent;
    outcome.background_latency.add(&other.latency);
    outcome.background_in_time += other.ok_in_time;
    outcome.sent += other.wrong + other.failed + other.lost;
    outcome.wrong += other.wrong;
    outcome.failed += other.failed + other.lost;
    outcome.first_fault = outcome.first_fault.take().or(other.first_fault.clone());
}

//! The load generator and the laboratory's only HTTP client.
//!
//! A [`LoadPlan`] goes in and an [`Outcome`] comes out. A *closed loop* has users who wait for each
//! answer; in an *open loop*, arrivals keep coming at a constant mean rate whatever the server does. The
//! generator runs in a process of its own, so that its CPU time is separate from the laboratory's.

mod account;
mod alarm;
mod arrival_queue;
mod closed_loop;
mod connection;
mod fetch;
mod http;
mod meter;
mod open_loop;
mod quick_ack;
mod resolve;
#[cfg(test)]
mod tests;
mod timetable;
mod tls;
mod visitor;

use futures_util::future::LocalBoxFuture;
use lab_model::{Arrivals, LoadPlan, Outcome};
use tokio::task::LocalSet;

use alarm::Alarm;
use quick_ack::QuickAck;

pub use self::http::Prepared;
pub use connection::{Connection, Dial, Fault, Fetched, Tcp};
pub use fetch::{get, get_text, is_ready};
pub use resolve::{address, resolve};
pub use tls::Net;
pub use visitor::Visitor;

/// Puts the load of `plan` on its server.
///
/// Everything runs on the calling thread: one clock, no locks, and a CPU share that can be measured.
///
/// # Errors
///
/// If a request is invalid or a first connection fails. Later faults are counted in the outcome.
///
/// The future is boxed so that the generator is compiled in this crate, which is optimized. The code of
/// an `async fn` is compiled where it is awaited.
pub fn run(plan: &LoadPlan) -> LocalBoxFuture<'_, anyhow::Result<Outcome>> {
    match (&plan.target.tls, plan.options.quick_ack) {
        (None, false) => Box::pin(run_over(plan, Tcp(plan.target.address), Alarm::precise())),
        (None, true) => Box::pin(run_over(plan, QuickAck(plan.target.address), Alarm::precise())),
        (Some(_), _) => {
            Box::pin(async { run_over(plan, Net::to(&plan.target)?, Alarm::precise()).await })
        }
    }
}

async fn run_over<D>(plan: &LoadPlan, dial: D, alarm: Alarm) -> anyhow::Result<Outcome>
where
    D: Dial + Clone + 'static,
{
    LocalSet::new()
        .run_until(async {
            match &plan.arrivals {
                Arrivals::ClosedLoop(load) => closed_loop::run(plan, *load, dial).await,
                Arrivals::OpenLoop(load) => open_loop::run(plan, *load, dial, alarm).await,
            }
        })
        .await
}

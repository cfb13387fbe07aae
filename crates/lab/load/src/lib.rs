//! The load generator: users who wait for their answers, or arrivals that nobody can slow down.
//!
//! It runs in a process of its own, so that its CPU time is separate from the laboratory's. A
//! [`Plan`] goes in and an [`Outcome`] comes out, both as JSON. Latencies are milliseconds, CPU time
//! is a duration, memory is MiB.
//!
//! [`process`] reads what the system says of a process under load.

mod alarm;
mod check;
mod closed_loop;
mod connection;
mod fetch;
mod http;
mod latency;
mod line;
mod meter;
mod open_files;
mod open_loop;
mod outcome;
mod page;
mod plan;
pub mod process;
mod punctuality;
mod tally;
#[cfg(test)]
mod tests;

use tokio::task::LocalSet;

use alarm::Alarm;

pub use check::{Answer, Expected};
pub use connection::{Connection, Dial, Tcp, Verdict};
pub use fetch::{fetch, get, get_text, is_ready};
pub use http::Prepared;
pub use latency::Latency;
pub use open_files::allow_connections;
pub use outcome::{GENERATOR_SATURATED, Outcome};
pub use plan::{Arrivals, Ask, Load, OpenLoop, Plan, address};
pub use punctuality::{LAG_FLOOR, LAG_LIMIT, LAG_SHARE, Punctuality};

/// Puts the load of `plan` on its server.
///
/// All of it runs on the calling thread: one clock, no locks, and a CPU share that can be read.
///
/// # Errors
///
/// If a request cannot be built, or a connection cannot be opened to begin with. What goes wrong
/// later is counted.
pub async fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    run_over(plan, Tcp(plan.target), Alarm::precise()).await
}

/// Puts the load of `plan` on the server behind `dial`.
async fn run_over<D>(plan: &Plan, dial: D, alarm: Alarm) -> anyhow::Result<Outcome>
where
    D: Dial + Clone + 'static,
{
    let page = plan.asks.iter().map(|ask| Prepared::new(ask, plan.target));
    let page = page.collect::<Result<_, _>>()?;
    LocalSet::new()
        .run_until(async {
            match &plan.arrivals {
                Arrivals::ClosedLoop(load) => closed_loop::run(plan, *load, page, dial).await,
                Arrivals::OpenLoop(load) => open_loop::run(plan, *load, page, dial, alarm).await,
            }
        })
        .await
}

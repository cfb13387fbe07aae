//! One run of our own generator.

use std::time::Duration;

use anyhow::ensure;
use lab_load::{Answer, Arrivals, Ask, Load, LoadPlan};

use super::{Counted, Run, answer::BODY, measure};
use crate::{bench::generate, servers::Server};

pub async fn run(server: &Server, connections: usize, seconds: u16) -> anyhow::Result<Run> {
    // Like wrk: requests one after the other on each connection, and all of them count.
    let plan = LoadPlan {
        target: server.target()?,
        server_pid: server.studied_pid().ok(),
        arrivals: Arrivals::ClosedLoop(Load { users: connections, think_ms: 0, connections: 1 }),
        warm_up: Duration::ZERO,
        measurement: Duration::from_secs(seconds.into()),
        grace: Duration::from_secs(1),
        asks: vec![Ask::get("/", Answer::Text(BODY.to_owned()))],
        pin: true,
        quick_ack: false,
    };
    let counted = async {
        let outcome = generate(&plan).await?;
        let fault = outcome.first_fault.as_deref().unwrap_or("it stopped answering");
        ensure!(outcome.ok == outcome.sent && outcome.ok > 0, "the server failed: {fault}");
        Ok(Counted { answers: outcome.ok as f64, throughput: outcome.throughput() })
    };
    measure(server, counted).await
}

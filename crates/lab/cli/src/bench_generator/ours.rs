//! One run of our own generator.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use lab_load::{Answer, Arrivals, Ask, Load, LoadPlan, address, process::children_cpu_time};

use super::{Run, answer::BODY};
use crate::{bench::generate, servers::Server};

pub async fn run(server: &Server, connections: usize, seconds: u16) -> anyhow::Result<Run> {
    // Like wrk: requests one after the other on each connection, and all of them count.
    let plan = LoadPlan {
        target: address(server.url())?,
        server_pid: server.pid()?,
        arrivals: Arrivals::ClosedLoop(Load { users: connections, think_ms: 0, connections: 1 }),
        warm_up: Duration::ZERO,
        measurement: Duration::from_secs(seconds.into()),
        grace: Duration::from_secs(1),
        asks: vec![Ask::get("/", Answer::Text(BODY.to_owned()))],
        pin: true,
    };
    let before = children_cpu_time();
    let outcome = generate(&plan).await?;
    let after = children_cpu_time();

    let fault = outcome.first_fault.as_deref().unwrap_or("it stopped answering");
    ensure!(outcome.ok == outcome.sent && outcome.ok > 0, "the server failed: {fault}");
    let cpu = after.zip(before).context("the system does not report the CPU time of a child")?;
    Ok(Run {
        throughput: outcome.throughput(),
        cpu_us: (cpu.0 - cpu.1).as_secs_f64() * 1e6 / outcome.ok as f64,
    })
}

//! One run of our own generator.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use lab_load::{Answer, Arrivals, Ask, Load, LoadPlan, process::children_cpu_time};

use super::{AnswerServer, Run, answer::BODY};
use crate::bench::generate;

pub fn run(
    server: &AnswerServer,
    connections: usize,
    measurement: Duration,
) -> anyhow::Result<Run> {
    // Like wrk: requests one after the other on each connection, and all of them count.
    let plan = LoadPlan {
        target: server.address,
        server_pid: server.pid(),
        arrivals: Arrivals::ClosedLoop(Load { users: connections, think_ms: 0, connections: 1 }),
        warm_up: Duration::ZERO,
        measurement,
        grace: Duration::from_secs(1),
        asks: vec![Ask::get("/", Answer::Text(BODY.to_owned()))],
        pin: true,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let before = children_cpu_time();
    let outcome = runtime.block_on(generate(&plan))?;
    let after = children_cpu_time();

    let fault = outcome.first_fault.as_deref().unwrap_or("it stopped answering");
    ensure!(outcome.ok == outcome.sent && outcome.ok > 0, "the server failed: {fault}");
    let cpu = after.zip(before).context("the system does not report the CPU time of a child")?;
    Ok(Run {
        throughput: outcome.throughput(),
        cpu_us: (cpu.0 - cpu.1).as_secs_f64() * 1e6 / outcome.ok as f64,
    })
}

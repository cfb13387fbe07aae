//! One run of our own generator.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, ensure};

use super::{AnswerServer, Run, answer::BODY};
use crate::{
    load::{Answer, Arrivals, Ask, Expected, Load, Outcome, Plan},
    process::children_cpu_time,
};

/// Runs `lab generate` for so long.
pub fn run(
    lab: &Path,
    server: &AnswerServer,
    connections: usize,
    measurement: Duration,
) -> anyhow::Result<Run> {
    let plan = serde_json::to_string(&plan(server, connections, measurement))?;
    let before = children_cpu_time();
    let mut generator = Command::new(lab)
        .arg("generate")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the load generator")?;
    // Open until the generator has ended: it takes the end of its input for the end of `lab`.
    let mut stdin = generator.stdin.take().context("stdin is a pipe")?;
    writeln!(stdin, "{plan}").context("the load generator takes no plan")?;
    let mut json = String::new();
    generator.stdout.take().context("stdout is a pipe")?.read_to_string(&mut json)?;
    ensure!(generator.wait()?.success(), "the load generator failed");
    let after = children_cpu_time();

    let outcome: Outcome = serde_json::from_str(&json)?;
    let fault = outcome.first_fault.as_deref().unwrap_or("it stopped to answer");
    ensure!(outcome.ok == outcome.sent && outcome.ok > 0, "the server failed: {fault}");
    let cpu = after.zip(before).context("the system does not tell the CPU time of a child")?;
    Ok(Run {
        throughput: outcome.throughput(),
        cpu_us: (cpu.0 - cpu.1).as_secs_f64() * 1e6 / outcome.ok as f64,
    })
}

/// What wrk does: requests one after the other on each connection, and all of them count.
fn plan(server: &AnswerServer, connections: usize, measurement: Duration) -> Plan {
    Plan {
        target: server.address,
        server_pid: server.pid(),
        arrivals: Arrivals::ClosedLoop(Load { users: connections, think_ms: 0, connections: 1 }),
        warm_up: Duration::ZERO,
        measurement,
        grace: Duration::from_secs(1),
        asks: vec![Ask {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: None,
            expected: Expected { status: 200, answer: Answer::Text(BODY.to_owned()) },
        }],
        pin: true,
    }
}

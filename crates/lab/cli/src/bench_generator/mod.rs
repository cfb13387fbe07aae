//! Our generator and wrk, run and measured in the same way: as whole processes on the generator's
//! core, with the CPU time that the system reports at their end.

pub mod answer;
pub mod ours;
pub mod wrk;

use std::future::Future;

use anyhow::Context as _;
use lab_load::process::{CpuTime, children_cpu_time};

use crate::servers::Server;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Answers per second.
    pub throughput: f64,
    /// CPU time of the generator per answer, in microseconds.
    pub cpu_us: f64,
    /// The share of one core that the server used. It has one thread, so 1 is the most.
    pub server_share: f64,
}

/// What a generator counted.
struct Counted {
    answers: f64,
    throughput: f64,
}

/// Measures a generator that ends as a child of this process.
async fn measure(
    server: &Server,
    generator: impl Future<Output = anyhow::Result<Counted>>,
) -> anyhow::Result<Run> {
    let read = || {
        let generator = children_cpu_time();
        let generator = generator.context("the system does not report the CPU time of a child")?;
        let server = CpuTime::of(server.studied_pid()?);
        let server = server.context("the system does not report the CPU time of the server")?;
        anyhow::Ok((generator, server))
    };
    let before = read()?;
    let Counted { answers, throughput } = generator.await?;
    let after = read()?;
    let used = after.1.since(&before.1).context("the CPU time of the server is not exact")?;
    Ok(Run {
        throughput,
        cpu_us: (after.0 - before.0).as_secs_f64() * 1e6 / answers,
        server_share: used.as_secs_f64() / (answers / throughput),
    })
}

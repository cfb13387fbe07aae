//! System calls of a running process, counted by `perf stat` where it is installed and permitted.

use std::time::Duration;

use anyhow::Context as _;
use lab_flame::Control;
use lab_load::{Ask, Visitor, address};
use tokio::process::Command;

use crate::servers::{Launch, Stage};

const EVENT: &str = "raw_syscalls:sys_enter";

/// How long `perf` may take to answer a command.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct SystemCalls(Control);

impl SystemCalls {
    /// Attaches to all threads of a process, including future ones, without counting yet. The error
    /// says what is missing.
    pub async fn attach(pid: u32) -> anyhow::Result<Self> {
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x", ",", "-e", EVENT, "--delay=-1", "--control", "fd:0,1", "-p"]);
        perf.arg(pid.to_string());
        let perf = Control::start(perf, PATIENCE).await;
        Ok(Self(perf.context("`perf` may not count system calls here")?))
    }

    pub async fn begin(&mut self) -> anyhow::Result<()> {
        Ok(self.0.command("enable").await?)
    }

    pub async fn end(&mut self) -> anyhow::Result<()> {
        Ok(self.0.command("disable").await?)
    }

    /// How many there were between `begin` and `end`. `perf` reports it when the process has exited,
    /// so stop the process first.
    pub async fn total(mut self) -> anyhow::Result<u64> {
        let message = tokio::time::timeout(PATIENCE, self.0.exited()).await;
        count(&message.context("`perf` does not exit")?)
    }
}

const WARM_UP: u32 = 20;
const VISITS: u32 = 100;

/// The mean of a server's system calls per visit, over one connection, one request at a time.
///
/// # Errors
///
/// If they cannot be counted here, or an answer is wrong.
pub async fn system_calls(launch: &Launch, asks: &[Ask]) -> anyhow::Result<f64> {
    let stage = Stage::set(launch).await?;
    let mut visitor = Visitor::open(address(stage.server.url())?, asks).await?;
    for _ in 0..WARM_UP {
        visitor.visit().await?;
    }
    let mut calls = SystemCalls::attach(stage.server.studied_pid()?).await?;
    calls.begin().await?;
    for _ in 0..VISITS {
        visitor.visit().await.context("while counting system calls")?;
    }
    calls.end().await?;
    stage.clear().await?;
    Ok(calls.total().await? as f64 / f64::from(VISITS))
}

/// The number in the line of the event: `38,,raw_syscalls:sys_enter,...`.
fn count(lines: &str) -> anyhow::Result<u64> {
    let line = lines.lines().find(|line| line.contains(EVENT));
    let number = line.and_then(|line| line.split(',').next()?.parse().ok());
    number.with_context(|| format!("`perf` reports no count, but `{}`", lines.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_its_line() {
        let lines = "# started\n38,,raw_syscalls:sys_enter,21004,100.00,,\n";
        assert_eq!(count(lines).unwrap(), 38);
        assert!(count("<not counted>,,raw_syscalls:sys_enter,0,100.00,,").is_err());
        assert!(count("").is_err());
    }
}

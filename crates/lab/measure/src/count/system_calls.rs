//! System calls of a running process, counted by `perf stat` where it is installed and permitted.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, bail, ensure};
use lab_load::Visitor;
use lab_model::Ask;
use lab_profile::Control;
use lab_servers::{Launch, Stage};
use lab_system::process;
use tokio::{process::Command, time::timeout};

use super::measure::idle;

const EVENT: &str = "raw_syscalls:sys_enter";

/// How long `perf` may take to answer a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// A count that can be interrupted.
pub struct Counter(Control);

impl Counter {
    /// Attaches to all threads of a process and of its descendants, including future ones, without
    /// counting yet. The error says what is missing.
    ///
    /// The process may be a shell, `npm`, or the master of several workers, which does not answer
    /// requests itself.
    pub async fn attach(pid: u32) -> anyhow::Result<Self> {
        Self::of_events(pid, &[EVENT]).await
    }

    /// Counts other events of `perf stat`.
    pub async fn of_events(pid: u32, events: &[&str]) -> anyhow::Result<Self> {
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x", ",", "-e", &events.join(","), "--delay=-1"]);
        perf.args(["--control", "fd:0,1", "-p"]);
        let pids: Vec<_> = process::pids(pid).iter().map(u32::to_string).collect();
        perf.arg(pids.join(","));
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
    /// so stop the process first. One that goes on running does not exit; `perf` is interrupted then.
    pub async fn total(self, exits: bool) -> anyhow::Result<u64> {
        count(&self.lines(exits).await?, EVENT)
    }

    /// How many of each of these events there were; see [`Self::total`].
    pub async fn totals<'a>(
        self,
        events: &[&'a str],
        exits: bool,
    ) -> anyhow::Result<BTreeMap<&'a str, u64>> {
        let lines = self.lines(exits).await?;
        events.iter().map(|event| Ok((*event, count(&lines, event)?))).collect()
    }

    async fn lines(mut self, exits: bool) -> anyhow::Result<String> {
        if !exits {
            self.0.interrupt();
        }
        let message = timeout(PATIENCE, self.0.exited()).await;
        message.context("`perf` does not exit")
    }
}

const WARM_UP: u32 = 20;
/// How often the visits are counted, to see whether the count repeats.
const ROUNDS: usize = 4;
const VISITS_OF_A_ROUND: u32 = 25;
/// How long a server gets to come to rest after an answer.
const REST: Duration = Duration::from_secs(1);

/// Counts the system calls of a visit to a server, of all its processes, over one connection.
///
/// # Errors
///
/// If they cannot be counted here, if not every round has the same count, or if an answer is wrong.
pub async fn system_calls(launch: &Launch, asks: &[Ask]) -> anyhow::Result<f64> {
    let stage = Stage::set(launch).await?;
    // Before any visit: a server whose process cannot be seen gets none.
    let pid = stage.server.studied_pid()?;
    let mut visitor = Visitor::open(stage.server.target()?, asks).await?;
    for _ in 0..WARM_UP {
        visitor.visit().await?;
    }
    // `perf` reports only at its end, so each round has its own. They attach before the first round,
    // because attaching disturbs.
    let mut counters = Vec::new();
    for _ in 0..ROUNDS {
        counters.push(Counter::attach(pid).await?);
    }
    // After its answer a server still makes calls, which belong to the round. A server that
    // never rests has no exact count.
    let pids = process::pids(pid);
    let settled = async || drop(timeout(REST, idle(&pids)).await);
    for counter in &mut counters {
        settled().await;
        counter.begin().await?;
        for _ in 0..VISITS_OF_A_ROUND {
            visitor.visit().await.context("while counting system calls")?;
        }
        settled().await;
        counter.end().await?;
    }
    let exits = stage.server.is_own();
    stage.clear().await?;
    let mut totals = Vec::new();
    for counter in counters {
        totals.push(counter.total(exits).await?);
    }
    totals.sort_unstable();
    let [least, .., most] = totals[..] else { bail!("there are several rounds") };
    let [least, most] = [least, most].map(|total| total as f64 / f64::from(VISITS_OF_A_ROUND));
    ensure!(least == most, "a visit makes between {least} and {most}, so they are not exact");
    Ok(least)
}

/// The number in the line of an event: `38,,raw_syscalls:sys_enter,...`.
fn count(lines: &str, event: &str) -> anyhow::Result<u64> {
    let is_of = |name: &str| {
        name.strip_prefix(event).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let line = lines.lines().find(|line| line.split(',').nth(2).is_some_and(is_of));
    let number = line.and_then(|line| line.split(',').next()?.parse().ok());
    number.with_context(|| format!("`perf` reports no count, but `{}`", lines.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_its_line() {
        let lines = "# started\n38,,raw_syscalls:sys_enter,21004,100.00,,\n";
        assert_eq!(count(lines, EVENT).unwrap(), 38);
        assert!(count("<not counted>,,raw_syscalls:sys_enter,0,100.00,,", EVENT).is_err());
        assert!(count("", EVENT).is_err());
    }
}

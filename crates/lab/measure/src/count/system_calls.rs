//! Events of a running process, such as system calls, counted by `perf stat` where it is installed and
//! permitted.

use std::{process::Command, time::Duration};

use anyhow::{Context as _, bail, ensure};
use lab_load::Visitor;
use lab_profile::PerfControl;
use lab_protocol::Request;
use lab_servers::{Launch, Running};
use lab_system::process;
use tokio::time::{Instant, timeout};

use super::idle::idle;

pub const SYSTEM_CALLS: &str = "raw_syscalls:sys_enter";

/// How long `perf` may take to answer a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// A count that can be interrupted.
pub struct Counter {
    perf: PerfControl,
    events: &'static [&'static str],
}

impl Counter {
    /// Attaches to all threads of a process and of its descendants, including future ones, without
    /// counting yet.
    ///
    /// The process may be a shell, `npm`, or the master of several workers, which does not answer
    /// requests itself.
    ///
    /// # Errors
    ///
    /// If `perf` is missing, or may not count here.
    pub async fn attach(pid: u32, events: &'static [&'static str]) -> anyhow::Result<Self> {
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x", ",", "-e", &events.join(","), "--delay=-1"]);
        perf.args(["--control", "fd:0,1", "-p"]);
        let pids: Vec<_> = process::lasting_pids(pid).await.iter().map(u32::to_string).collect();
        perf.arg(pids.join(","));
        let perf = PerfControl::start(perf, PATIENCE).await;
        Ok(Self { perf: perf.context("`perf` may not count system calls here")?, events })
    }

    /// Counts while this work is done.
    ///
    /// # Errors
    ///
    /// If `work` fails, or if `perf` has exited.
    pub async fn during<T>(
        &mut self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        self.perf.command("enable").await?;
        let done = work.await?;
        self.perf.command("disable").await?;
        Ok(done)
    }

    /// How many of each event there were in what was counted. `perf` reports it when the process has
    /// exited, so stop the process first. One that goes on running does not exit; `perf` is interrupted
    /// then.
    ///
    /// # Errors
    ///
    /// If `perf` does not exit in time, or did not count an event.
    pub async fn totals(mut self, exits: bool) -> anyhow::Result<Vec<u64>> {
        if !exits {
            self.perf.interrupt();
        }
        let lines = timeout(PATIENCE, self.perf.exited()).await.context("`perf` does not exit")?;
        self.events.iter().map(|event| count(&lines, event)).collect()
    }
}

/// How long [`system_calls`] takes at most, about.
pub const LONGEST: Duration = Duration::from_secs(5);
/// How much of that is for the visits.
const VISITING: Duration = Duration::from_secs(3);
const WARM_UP: u32 = 20;
/// How often the visits are counted, to see whether the count repeats.
const ROUNDS: u32 = 4;
/// The most and the fewest visits of a round.
const VISITS: u32 = 25;
const FEWEST: u32 = 4;
/// How long a server gets to come to rest after an answer.
const REST: Duration = Duration::from_millis(200);

/// Counts the system calls of a visit to a server, of all its processes, over one connection: in the round with the
/// fewest and in the one with the most.
///
/// # Errors
///
/// If they cannot be counted here, if a visit takes too long, or if an answer is wrong.
pub async fn system_calls(launch: &Launch, requests: &[Request]) -> anyhow::Result<[f64; 2]> {
    let counted = Running::with(launch, async |Running { server, .. }| {
        // Before any visit: a server whose process cannot be seen gets none.
        let pid = server.studied_pid()?;
        let mut visitor = Visitor::open(server.target(), requests).await?;
        let (start, mut visits) = (Instant::now(), 0);
        while visits < WARM_UP && start.elapsed() < VISITING / ROUNDS {
            visitor.visit().await?;
            visits += 1;
        }
        let a_visit = start.elapsed() / visits;
        let visits = (VISITING / ROUNDS).div_duration_f64(a_visit) as u32;
        ensure!(
            visits >= FEWEST,
            "a visit takes {} ms, so counting would take too long",
            a_visit.as_millis()
        );
        let visits = visits.min(VISITS);
        // `perf` reports only at its end, so each round has its own. They attach before the first round,
        // because attaching disturbs.
        let mut counters = Vec::new();
        for _ in 0..ROUNDS {
            counters.push(Counter::attach(pid, &[SYSTEM_CALLS]).await?);
        }
        // After its answer a server still makes calls, which belong to the round. A server that
        // never rests has no exact count.
        let pids = process::pids(pid);
        let settled = async || drop(timeout(REST, idle(&pids)).await);
        for counter in &mut counters {
            settled().await;
            let round = async {
                for _ in 0..visits {
                    visitor.visit().await.context("while counting system calls")?;
                }
                settled().await;
                Ok(())
            };
            counter.during(round).await?;
        }
        anyhow::Ok((counters, visits, server.is_own()))
    });
    let (counters, visits, exits) = counted.await?;
    let mut totals = Vec::new();
    for counter in counters {
        totals.extend(counter.totals(exits).await?);
    }
    totals.sort_unstable();
    let [least, .., most] = totals[..] else { bail!("there are several rounds") };
    Ok([least, most].map(|calls| calls as f64 / f64::from(visits)))
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

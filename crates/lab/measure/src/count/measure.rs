//! Counts one variant: fresh servers, one connection, one request at a time.

use std::collections::BTreeMap;

use anyhow::Context as _;
use lab_cases::{Case, Workspace};
use lab_load::Visitor;
use lab_protocol::Request;
use lab_servers::{Launch, Running, Server};
use lab_system::process;
use serde::Serialize;

use super::{
    gauge::{Gauge, Reading, growth, median_growth},
    idle::idle,
    system_calls::{Counter, SYSTEM_CALLS},
};

/// Where a server that counts answers with `{"allocations":N,"bytes":N}`.
const ALLOCATIONS: &str = "/.lab/allocations";
/// How many readings in a row determine the cost of a reading.
const PRICE_READINGS: u32 = 5;

/// The exact cost of one visit to a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counts {
    pub visits: u32,
    pub requests: usize,
    /// Counts that repeat exactly enough for a reference: the median visit's `allocations` and the
    /// `bytes` they request, growing buffers included, and `COMPANION.NAME` of each companion.
    pub exact: BTreeMap<String, u64>,
    /// The mean of system calls, if the kernel's counter can be read. They depend on the kernel and
    /// on which threads are awake, so they are not exact.
    pub system_calls: Option<f64>,
}

impl Counts {
    /// All counts by name.
    pub fn named(&self) -> BTreeMap<String, f64> {
        let exact = self.exact.iter().map(|(name, count)| (name.clone(), *count as f64));
        exact.chain(self.system_calls.map(|calls| ("system_calls".to_owned(), calls))).collect()
    }
}

/// Counts what a visit costs `variant`, whose binary in `workspace` must count: a workspace of
/// [`lab_servers::instrumented::build_instrumented`].
///
/// Requests `before` set up what the server makes once, and aren't counted. Also returns a note if system calls
/// are not counted.
///
/// # Errors
///
/// If a server cannot be started or answers wrongly, or if its counters cannot be read.
pub async fn measure(
    workspace: &Workspace,
    case: &Case,
    variant: &str,
    before: &[Request],
) -> anyhow::Result<(Counts, Option<String>)> {
    let case = case.counted();
    let requests = case.requests();
    let launch = Launch::of_case(workspace, &case, variant)?;
    let counted = Running::with(&launch, async |running| {
        let counted = counts_of(running, &case, &requests, before).await;
        counted.with_context(|| format!("{}-{variant}", case.name))
    });
    let (mut counts, calls) = counted.await?;
    match calls {
        Ok(calls) => {
            let total: u64 = calls.totals(true).await?.iter().sum();
            counts.system_calls = Some(total as f64 / f64::from(counts.visits));
            Ok((counts, None))
        }
        Err(error) => Ok((counts, Some(format!("no system calls: {error:#}")))),
    }
}

async fn counts_of(
    running: &Running,
    case: &Case,
    requests: &[Request],
    before: &[Request],
) -> anyhow::Result<(Counts, anyhow::Result<Counter>)> {
    let servers = std::iter::once(&running.server).chain(&running.companions);
    let pids = servers.map(Server::studied_pid).collect::<anyhow::Result<Vec<_>>>()?;
    let idle = async || idle(&pids).await;
    if !before.is_empty() {
        Visitor::open(running.server.target(), before).await?.visit_in_steps(&idle).await?;
    }
    let mut visitor = Visitor::open(running.server.target(), requests).await?;
    let mut gauges = Gauges::open(running, case).await?;
    for _ in 0..case.count.warm_up {
        visitor.visit_in_steps(&idle).await?;
    }

    // A reading costs allocations too. The first one sets something up, the others show the price.
    gauges.read().await?;
    let mut readings = Vec::new();
    for _ in 0..=PRICE_READINGS {
        idle().await?;
        readings.push(gauges.read().await?);
    }
    let price = median_growth(&readings);

    let mut calls = Counter::attach(running.server.studied_pid()?, &[SYSTEM_CALLS]).await;
    idle().await?;
    let mut readings = vec![gauges.read().await?];
    for _ in 0..case.count.visits {
        idle().await?;
        let visit = visitor.visit_in_steps(&idle);
        match &mut calls {
            Ok(calls) => calls.during(visit).await?,
            Err(_) => visit.await?,
        }
        readings.push(gauges.read().await?);
    }
    let counts = Counts {
        visits: case.count.visits,
        requests: requests.len(),
        exact: growth(&price, &median_growth(&readings)),
        system_calls: None,
    };
    Ok((counts, calls))
}

/// The counters of the server and its companions, with the prefix of their names.
struct Gauges(Vec<(String, Gauge)>);

impl Gauges {
    async fn open(running: &Running, case: &Case) -> anyhow::Result<Self> {
        let own = Gauge::open(running.server.url(), ALLOCATIONS).await?;
        let mut gauges = vec![(String::new(), own)];
        for (companion, server) in case.companions.iter().zip(&running.companions) {
            if let Some(path) = &companion.counters {
                let gauge = Gauge::open(server.url(), path).await?;
                gauges.push((format!("{}.", companion.name), gauge));
            }
        }
        Ok(Self(gauges))
    }

    async fn read(&mut self) -> anyhow::Result<Reading> {
        let mut all = Reading::new();
        for (prefix, gauge) in &mut self.0 {
            let reading = gauge.read().await.with_context(|| match prefix.as_str() {
                "" => "this server does not count its allocations; `just count` builds one that does",
                companion => companion,
            }.to_owned())?;
            all.extend(reading.into_iter().map(|(name, count)| (format!("{prefix}{name}"), count)));
        }
        Ok(all)
    }
}

/// Makes visits over one connection. Each request waits until all servers sleep, and so does the return.
///
/// # Errors
///
/// If an answer is missing or wrong, if the server closes the connection, or if a server does not come to rest.
pub async fn visit_in_steps(
    running: &Running,
    requests: &[Request],
    visits: u32,
) -> anyhow::Result<()> {
    let servers = std::iter::once(&running.server).chain(&running.companions);
    let pids = servers.map(Server::studied_pid).collect::<anyhow::Result<Vec<_>>>()?;
    // A tool that runs the server may be a script.
    let pids: Vec<_> = pids.into_iter().flat_map(process::pids).collect();
    let mut visitor = Visitor::open(running.server.target(), requests).await?;
    for _ in 0..visits {
        visitor.visit_in_steps(async || idle(&pids).await).await?;
    }
    drop(visitor);
    // A server that stops while it closes a connection allocates now more, now less.
    idle(&pids).await
}

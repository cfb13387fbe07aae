//! Counting one variant: fresh servers, one connection, one request at a time.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;

use super::{
    ALLOCATIONS, Counts,
    client::{Client, Question},
    gauge::{Gauge, Reading, growth, median},
    idle,
    system_calls::SystemCalls,
};
use crate::{
    case::Case,
    launch::Launch,
    server::{Server, Stage},
    workspace::Workspace,
};

/// Counts what a page of `case` costs `variant`, whose binary in `workspace` has to be one that
/// counts: a workspace of [`crate::instrumented::build`].
///
/// `note` is told why something is not counted.
pub async fn measure(
    workspace: &Workspace,
    case: &Case,
    variant: &str,
    note: impl Fn(String),
) -> anyhow::Result<Counts> {
    let case = case.counted();
    let stage = Stage::set(&Launch::of_case(workspace, &case, variant)?).await?;
    let counted = on_stage(&stage, workspace, &case, note).await;
    stage.clear().await?;
    let (mut counts, calls) = counted.with_context(|| format!("{}-{variant}", case.name))?;
    if let Some(calls) = calls {
        counts.system_calls = Some(calls.total().await? as f64 / f64::from(counts.pages));
    }
    Ok(counts)
}

async fn on_stage(
    stage: &Stage,
    workspace: &Workspace,
    case: &Case,
    note: impl Fn(String),
) -> anyhow::Result<(Counts, Option<SystemCalls>)> {
    let mut questions = Vec::new();
    for request in &case.requests {
        questions.push(Question::new(workspace, request).await?);
    }
    let servers = std::iter::once(&stage.server).chain(stage.companions());
    let pids = servers.map(Server::pid).collect::<anyhow::Result<_>>()?;
    let mut visitor = Visitor { client: Client::open(stage.server.url()).await?, questions, pids };
    let mut gauges = Gauges::open(stage, case).await?;
    for _ in 0..case.count.warm_up {
        visitor.load_page().await?;
    }

    // Asking is not free either: the first answer sets something up, the others show the price.
    gauges.read(&visitor).await?;
    let mut readings = Vec::new();
    for _ in 0..=ASKED_FOR_THE_PRICE {
        readings.push(gauges.read(&visitor).await?);
    }
    let prices = steps(&readings);

    let attached = SystemCalls::attach(stage.server.pid()?).await;
    let mut calls = attached.inspect_err(|error| note(format!("no system calls: {error:#}"))).ok();
    let mut readings = vec![gauges.read(&visitor).await?];
    for _ in 0..case.count.pages {
        if let Some(calls) = &mut calls {
            calls.begin().await?;
        }
        visitor.load_page().await?;
        if let Some(calls) = &mut calls {
            calls.end().await?;
        }
        readings.push(gauges.read(&visitor).await?);
    }
    let pages = steps(&readings);

    let mut each = prices.iter().zip(&pages).map(|(price, page)| growth(price, page));
    let own = each.next().context("the server is read first")?;
    let count = |name| own.get(name).copied().with_context(|| format!("it counts no {name}"));
    let counts = Counts {
        pages: case.count.pages,
        requests: case.requests.len(),
        allocations: count("allocations")?,
        bytes: count("bytes")?,
        system_calls: None,
        companions: gauges.companions.keys().cloned().zip(each).collect(),
    };
    Ok((counts, calls))
}

/// How often the gauges are read in a row, only to see what reading them costs.
const ASKED_FOR_THE_PRICE: usize = 5;

/// By how much each gauge grew between two readings: the median of all steps.
fn steps(readings: &[Vec<Reading>]) -> Vec<Reading> {
    let gauges = readings.first().map_or(0, Vec::len);
    let of = |gauge: usize| {
        let grown = readings.windows(2).map(|pair| growth(&pair[0][gauge], &pair[1][gauge]));
        median(&grown.collect::<Vec<_>>())
    };
    (0..gauges).map(of).collect()
}

/// Who loads pages: all requests of a page in turn, each once the servers are done with the last.
struct Visitor {
    client: Client,
    questions: Vec<Question>,
    pids: Arc<[u32]>,
}

impl Visitor {
    async fn load_page(&mut self) -> anyhow::Result<()> {
        for question in &self.questions {
            question.ask(&mut self.client, &self.pids).await?;
            idle::wait(&self.pids).await?;
        }
        Ok(())
    }
}

/// All that can be read: the server's allocations, and what its companions count.
struct Gauges {
    server: Gauge,
    companions: BTreeMap<String, Gauge>,
}

impl Gauges {
    async fn open(stage: &Stage, case: &Case) -> anyhow::Result<Self> {
        let server = Gauge::open(stage.server.url(), ALLOCATIONS).await?;
        let mut companions = BTreeMap::new();
        for (companion, server) in case.companions.iter().zip(stage.companions()) {
            if let Some(path) = &companion.counters {
                companions.insert(companion.name.clone(), Gauge::open(server.url(), path).await?);
            }
        }
        Ok(Self { server, companions })
    }

    /// One reading each: the server's, then those of the companions in their order.
    async fn read(&mut self, visitor: &Visitor) -> anyhow::Result<Vec<Reading>> {
        let own = self.server.read().await.context(
            "this server does not count its allocations; `just count` builds one that does",
        )?;
        let mut readings = vec![own];
        for (name, gauge) in &mut self.companions {
            readings.push(gauge.read().await.with_context(|| name.clone())?);
        }
        idle::wait(&visitor.pids).await?;
        Ok(readings)
    }
}

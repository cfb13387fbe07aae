//! One visitor, one page after the other: what a page costs, when nobody else asks.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use serde::Deserialize;
use tokio::time::Instant;

use lab_load::{self as load, Ask, Connection, Prepared, Tcp, Verdict};

use crate::{
    count::{self, Gauge, growth},
    flame::{Folded, Heap},
    launch::Launch,
    server::Stage,
};

/// Pages before anything counts.
const WARM_UP: u32 = 2;
/// For how long pages are asked for that count.
const WINDOW: Duration = Duration::from_secs(2);
/// The least pages that count, however long they take.
const LEAST: u32 = 3;

/// What a server tells of its allocations, as far as it is needed.
#[derive(Deserialize)]
struct Told {
    /// Stacks and their bytes, all pages together.
    folded: String,
    /// How many samples they are estimated from.
    samples: u64,
}

/// Asks a server that samples its allocations, which `launch` starts, for pages.
pub async fn heap(launch: &Launch, asks: &[Ask]) -> anyhow::Result<Heap> {
    let stage = Stage::set(launch).await?;
    let mut visitor = Visitor::open(&stage, asks).await?;
    visitor.warm_up().await?;
    let url = stage.server.url();
    load::get_text(url, "/.lab/heap/reset").await.context("it does not tell its allocations")?;
    let pages = visitor.visit_for(WINDOW).await?;
    let told = load::get_text(url, "/.lab/heap").await?;
    stage.clear().await?;
    let told: Told = serde_json::from_str(&told)?;
    let stacks: Folded = told.folded.parse().context("the server's allocations cannot be read")?;
    let per_page = stacks.total() / u64::from(pages);
    Ok(Heap { stacks: stacks.scaled_to(per_page), samples: told.samples })
}

/// What a page makes a server's companions count, and its system calls where they can be counted:
/// by name, for one page.
pub async fn counters(
    launch: &Launch,
    asks: &[Ask],
    path: Option<&str>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let stage = Stage::set(launch).await?;
    let mut visitor = Visitor::open(&stage, asks).await?;
    visitor.warm_up().await?;
    let mut gauge = match (stage.companions().first(), path) {
        (Some(companion), Some(path)) => Some(Gauge::open(companion.url(), path).await?),
        _ => None,
    };
    let before = match &mut gauge {
        Some(gauge) => gauge.read().await?,
        None => BTreeMap::new(),
    };
    let mut calls = count::SystemCalls::attach(stage.server.studied_pid()?).await.ok();
    if let Some(calls) = &mut calls {
        calls.begin().await?;
    }
    let pages = visitor.visit_for(WINDOW).await?;
    if let Some(calls) = &mut calls {
        calls.end().await?;
    }
    let counted = match &mut gauge {
        Some(gauge) => growth(&before, &gauge.read().await?),
        None => BTreeMap::new(),
    };
    stage.clear().await?;
    let by_page = |count: u64| count as f64 / f64::from(pages);
    let mut counts: BTreeMap<_, _> =
        counted.into_iter().map(|(name, count)| (name.replace('_', " "), by_page(count))).collect();
    if let Some(calls) = calls {
        counts.insert("system calls".to_owned(), by_page(calls.total().await?));
    }
    Ok(counts)
}

/// Who asks, over one connection.
struct Visitor {
    connection: Connection<Tcp>,
    page: Vec<Prepared>,
}

impl Visitor {
    async fn open(stage: &Stage, asks: &[Ask]) -> anyhow::Result<Self> {
        let target = load::address(stage.server.url())?;
        let page = asks.iter().map(|ask| Prepared::new(ask, target));
        Ok(Self {
            connection: Connection::open(target).await?,
            page: page.collect::<Result<_, _>>()?,
        })
    }

    async fn warm_up(&mut self) -> anyhow::Result<()> {
        for _ in 0..WARM_UP {
            self.visit().await?;
        }
        Ok(())
    }

    /// Asks for pages until the time is over; returns how many.
    async fn visit_for(&mut self, window: Duration) -> anyhow::Result<u32> {
        let end = Instant::now() + window;
        let mut pages = 0;
        while pages < LEAST || Instant::now() < end {
            self.visit().await?;
            pages += 1;
        }
        Ok(pages)
    }

    async fn visit(&mut self) -> anyhow::Result<()> {
        for request in &self.page {
            match self.connection.ask(request).await {
                Verdict::Ok => {}
                Verdict::Wrong(fault) | Verdict::Failed(fault) => {
                    return Err(anyhow::anyhow!(fault)).context("a page was answered wrongly");
                }
            }
        }
        Ok(())
    }
}

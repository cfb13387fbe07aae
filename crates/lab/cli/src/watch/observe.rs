//! Watching one server under its load: a fresh server, the generator beside it, a profiler on it.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use hyper::Uri;

use lab_load::{self as load, Arrivals, Plan};

use crate::{
    bench::{Comparison, generate},
    count::{Gauge, growth},
    flame::{
        Observation, Recording, Rung,
        connections::Sample,
        record::{Failure, Ladder, Subject},
        spans::Spans,
    },
    launch::Launch,
    server::Stage,
};

/// How long the load runs before anything is recorded.
const WARM_UP: Duration = Duration::from_millis(1500);
/// By how much the generator's measurement begins before the recording and ends after it, so that
/// the profiler, which needs a moment to attach, never sees an idle server.
const MARGIN: Duration = Duration::from_millis(500);
/// How long the last requests may take. Those that do not end are no news here.
const GRACE: Duration = Duration::from_millis(500);
/// Where a server tells what its requests of the last two seconds waited for.
const SPANS: &str = "/.lab/spans?last_ms=2000";
/// How often the companions' counters are read.
const TICK: Duration = Duration::from_millis(100);

/// What the server at `url` tells of its requests.
async fn spans(url: &Uri) -> anyhow::Result<Spans> {
    let told = load::get_text(url, SPANS).await.context("it does not tell its spans")?;
    serde_json::from_str(&told).context("the server's spans cannot be read")
}

/// What is to be watched, and how.
#[derive(Debug)]
pub struct Watch<'a> {
    /// The servers and their load.
    pub comparison: &'a Comparison,
    /// The profilers.
    pub ladder: &'a Ladder,
    /// Where the first companion answers with what it counted, if its connections are shown.
    pub counters: Option<&'a str>,
    /// Whether the servers are ours, so that they have a sampler of their own.
    pub is_case: bool,
    /// Whether the servers are asked what their requests waited for.
    pub tells_spans: bool,
    /// How long is recorded.
    pub window: Duration,
    /// Where the profiler's own files go.
    pub dir: &'a Path,
}

impl Watch<'_> {
    /// Watches the server `name`, which `launch` starts, through the profiler of a rung.
    pub async fn observe(
        &self,
        rung: Rung,
        name: &str,
        launch: &Launch,
    ) -> Result<Observation, Failure> {
        let mut stage = Stage::set(launch).await?;
        let plan = Plan {
            target: load::address(stage.server.url())?,
            server_pid: stage.server.studied_pid()?,
            arrivals: Arrivals::ClosedLoop(self.comparison.load),
            warm_up: WARM_UP,
            measurement: MARGIN + self.window + MARGIN,
            grace: GRACE,
            asks: self.comparison.asks.clone(),
            pin: false,
        };
        let url = stage.server.url().clone();
        let companion = stage.companions().first().map(|companion| companion.url().clone());
        let watched = async {
            let load = async { generate(&plan).await.map_err(Failure::Fatal) };
            let seen = self.see(rung, name, plan.server_pid, &url, companion.as_ref());
            tokio::try_join!(load, seen)
        };
        let watched = tokio::select! {
            // First who died, then who complains of it.
            biased;
            death = stage.died() => Err(Failure::Fatal(death)),
            watched = watched => watched,
        };
        if watched.is_err() {
            // Who loses the server may be quicker to say so than the server to be gone.
            let death = tokio::time::timeout(Duration::from_millis(200), stage.died()).await;
            if let Ok(death) = death {
                return Err(Failure::Fatal(death));
            }
        }
        stage.clear().await?;
        let (outcome, (recording, connections, spans)) = watched?;
        Ok(Observation {
            name: name.to_owned(),
            recording,
            outcome,
            requests_per_page: self.comparison.asks.len(),
            spans,
            connections,
        })
    }

    /// All that is seen while the load runs.
    async fn see(
        &self,
        rung: Rung,
        name: &str,
        pid: u32,
        url: &Uri,
        companion: Option<&Uri>,
    ) -> Result<(Option<Recording>, Vec<Sample>, Option<Spans>), Failure> {
        tokio::time::sleep(WARM_UP + MARGIN).await;
        let sampler = self.is_case.then_some(url);
        let subject = Subject { pid, url: sampler, dir: self.dir, name };
        let recording = async {
            if rung == Rung::CountersOnly {
                tokio::time::sleep(self.window).await;
                return Ok(None);
            }
            self.ladder.record(rung, &subject, self.window).await.map(Some)
        };
        let counters = async { self.count(companion).await.map_err(Failure::Fatal) };
        let (recording, connections) = tokio::try_join!(recording, counters)?;
        let spans = match self.tells_spans {
            true => Some(spans(url).await?),
            false => None,
        };
        Ok((recording, connections, spans))
    }

    /// Reads the companion's counters again and again, for as long as is recorded.
    async fn count(&self, companion: Option<&Uri>) -> anyhow::Result<Vec<Sample>> {
        let (Some(path), Some(companion)) = (self.counters, companion) else {
            return Ok(Vec::new());
        };
        let mut gauge = Gauge::open(companion, path).await.context("the companion's counters")?;
        let first = gauge.read().await?;
        let start = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        let mut samples = Vec::new();
        while start.elapsed() <= self.window {
            ticks.tick().await;
            let (at, now) = (start.elapsed(), gauge.read().await?);
            let grown = growth(&first, &now);
            let of = |is: fn(&str) -> bool| {
                grown.iter().filter(|(name, _)| is(name)).map(|(_, count)| count).sum()
            };
            let connections = of(|name| name.ends_with("connections"));
            let handshakes = of(|name| name.ends_with("handshakes"));
            samples.push(Sample { at, connections, handshakes });
        }
        Ok(samples)
    }
}

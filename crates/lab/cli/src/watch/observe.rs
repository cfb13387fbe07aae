//! Watches one server under its load: a fresh server, the generator next to it, a profiler on it.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use http::Uri;
use lab_flame::{Failure, Observation, Profiler, Profilers, Reading, Spans, Subject};
use lab_load::{Arrivals, LoadPlan};

use crate::{
    bench::{Comparison, generate},
    servers::{Launch, Stage},
};

/// How long the load runs before the recording.
const WARM_UP: Duration = Duration::from_millis(1500);
/// How much earlier than the recording the measurement begins, and how much later it ends: a profiler
/// takes a moment to attach and must not see an idle server.
const MARGIN: Duration = Duration::from_millis(500);
/// How long the last requests may take. Nothing depends on their answers.
const GRACE: Duration = Duration::from_millis(500);
/// Where a server answers with the spans of the last two seconds.
const SPANS: &str = "/.lab/spans?last_ms=2000";

#[derive(Debug)]
pub struct Watch<'a> {
    pub comparison: &'a Comparison,
    pub profilers: &'a Profilers,
    /// Whether the servers have the in-process sampler.
    pub has_sampler: bool,
    /// Whether to ask the servers for their spans.
    pub has_spans: bool,
    pub window: Duration,
    pub scratch: &'a Path,
}

impl Watch<'_> {
    /// Watches the server `name`, which `launch` starts.
    pub async fn observe(
        &self,
        profiler: Profiler,
        name: &str,
        launch: &Launch,
    ) -> Result<Observation, Failure> {
        let mut stage = Stage::set(launch).await?;
        let plan = LoadPlan {
            target: lab_load::address(stage.server.url())?,
            server_pid: stage.server.studied_pid()?,
            arrivals: Arrivals::ClosedLoop(self.comparison.load),
            warm_up: WARM_UP,
            measurement: MARGIN + self.window + MARGIN,
            grace: GRACE,
            asks: self.comparison.asks.clone(),
            pin: false,
        };
        let url = stage.server.url().clone();
        let watched = async {
            let load = async { generate(&plan).await.map_err(Failure::Fatal) };
            tokio::try_join!(load, self.see(profiler, name, plan.server_pid, &url))
        };
        let read = async {
            let (outcome, (reading, spans)) = stage.watch(watched).await?;
            // Reading takes long, and may cost the server CPU time: only now that nothing is measured.
            Ok::<_, Failure>((outcome, reading.await?, spans))
        };
        let read = read.await;
        stage.clear().await?;
        let (outcome, recording, spans) = read?;
        Ok(Observation {
            name: name.to_owned(),
            recording,
            measured: outcome.measured,
            answered: outcome.ok_in_time * self.comparison.asks.len() as u64,
            cpu: outcome.server_cpu,
            spans,
        })
    }

    async fn see<'a>(
        &'a self,
        profiler: Profiler,
        name: &'a str,
        pid: u32,
        url: &'a Uri,
    ) -> Result<(Reading<'a>, Option<Spans>), Failure> {
        tokio::time::sleep(WARM_UP + MARGIN).await;
        let sampler = self.has_sampler.then_some(url);
        let subject = Subject { pid, url: sampler, dir: self.scratch, name };
        let reading = self.profilers.sample(profiler, subject, self.window).await?;
        // At once, while the load still runs.
        let spans = match self.has_spans {
            true => Some(spans(url).await.map_err(Failure::Fatal)?),
            false => None,
        };
        Ok((reading, spans))
    }
}

async fn spans(url: &Uri) -> anyhow::Result<Spans> {
    let answer =
        lab_load::get_text(url, SPANS).await.context("the server does not answer its spans")?;
    serde_json::from_str(&answer).context("the server's spans cannot be parsed")
}

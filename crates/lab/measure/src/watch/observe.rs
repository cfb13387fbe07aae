//! Watches one server under its load: a fresh server, the generator next to it, a profiler on it.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use http::Uri;
use lab_observation::{Observation, Profiler, Spans, ThreadStates};
use lab_profile::{Failure, Fetching, Process, Profilers, ReadingFuture, Sampler, watch_threads};
use lab_protocol::{Arrivals, LoadPlan, Request, Spacing, Target};
use lab_servers::Running;
use lab_system::Progress;

use super::{
    ServerUnderLoad,
    alone::cost_of_each,
    slowest::{self, Slowest, spans},
};
use crate::bench::generate;

/// How long the load runs before the recording.
pub const WARM_UP: Duration = Duration::from_millis(1500);
/// How much earlier than the recording the measurement begins, and how much later it ends: a profiler
/// takes a moment to attach and must not see an idle server.
const MARGIN: Duration = Duration::from_secs(1);
/// A recording sees so many answers of all users together, and so many of each.
const OF_ALL: u32 = 10;
const OF_EACH: u32 = 3;
/// How long the last requests may take. Nothing depends on their answers.
pub const GRACE: Duration = Duration::from_millis(500);
/// How many of the last seconds of spans are read.
const SPANS: Duration = Duration::from_secs(2);

/// How long a server is recorded that usually is for so long, if a visit takes `visit`: whatever a slow server does for
/// a request has to be in it.
pub fn window(usual: Duration, visit: Duration, users: usize) -> Duration {
    let users = u32::try_from(users.max(1)).unwrap_or(u32::MAX);
    usual.max(visit * OF_ALL.div_ceil(users).max(OF_EACH))
}

/// The result of the first profiler that does not fail. `note` gets the errors of the earlier ones.
///
/// # Errors
///
/// If no profiler works, or if an attempt fails for a reason that is not the profiler's.
pub async fn first_that_works<T>(
    choice: &[Profiler],
    attempt: impl AsyncFn(Profiler) -> Result<T, Failure>,
    mut note: impl FnMut(String),
) -> anyhow::Result<(Profiler, T)> {
    for profiler in choice {
        match attempt(*profiler).await {
            Ok(seen) => return Ok((*profiler, seen)),
            Err(Failure::Fatal(error)) => return Err(error),
            Err(Failure::Profiler(obstacle)) => note(format!("{profiler}: {obstacle}")),
        }
    }
    bail!("no profiler works here; `lab doctor` says what is missing")
}

/// The figures to read of a server besides its stacks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instruments<'a> {
    /// Whether the server has the in-process sampler.
    pub sampler: bool,
    /// Whether to look at its threads.
    pub threads: bool,
    pub spans: SpanSource<'a>,
    /// Whether to load each request alone after the recording.
    pub alone: bool,
}

/// Where the spans of a server are.
#[derive(Clone, Copy, Debug, Default)]
pub enum SpanSource<'a> {
    #[default]
    Nowhere,
    /// The server answers with them.
    Server,
    /// The server writes its spans to this file, relative to its directory.
    File(&'a Path),
}

#[derive(Debug)]
pub struct Watch<'a> {
    pub server: &'a ServerUnderLoad,
    pub profilers: &'a Profilers,
    pub instruments: Instruments<'a>,
    pub window: Duration,
    pub scratch: &'a Path,
}

impl Watch<'_> {
    /// Starts the server, and watches it under its load, and then under random arrivals.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, if the load fails, or if the profiler does not work.
    pub async fn observe(
        &self,
        profiler: Profiler,
        progress: &Progress,
    ) -> Result<Observation, Failure> {
        let ServerUnderLoad { name, launch, workload, requests, .. } = self.server;
        let start = SystemTime::now();
        let watched = async |Running { server, .. }: &Running| {
            let (pid, arrivals) = (server.studied_pid()?, workload.arrivals());
            let plan = self.plan(server.target(), pid, arrivals);
            let mut seen = self.under_load(profiler, name, server.url(), plan).await?;
            let mut slowest = None;
            if let Some(load) = slowest::load(self.server, &seen, self.window) {
                progress.step(&format!("random arrivals to {name}"));
                let url =
                    matches!(self.instruments.spans, SpanSource::Server).then(|| server.url());
                let found = Slowest::of(load, self.server, server, pid, url).await;
                slowest = Some(found.map_err(Failure::Fatal)?);
            }
            if self.instruments.alone {
                seen.routes = cost_of_each(self.server, server, progress).await;
            }
            Ok::<_, Failure>((seen, slowest))
        };
        let (mut observation, mut slowest) = Running::with(launch, watched).await?;
        if let SpanSource::File(file) = self.instruments.spans {
            // A server may write the last ones only when it ends.
            let file = launch.dir.as_deref().unwrap_or(Path::new("")).join(file);
            let all = Spans::from_chrome(&file, start)?;
            observation.spans = Some(match &mut slowest {
                Some(slowest) => slowest.take_from(all),
                None => all,
            });
        }
        let of_visit = Request::of_visit(requests).len();
        observation.slowest = slowest.map(|slowest| slowest.found(of_visit));
        Ok(observation)
    }

    /// The load for a recording.
    pub fn plan(&self, target: Target, server_pid: u32, arrivals: Arrivals) -> LoadPlan {
        LoadPlan {
            server_pid: Some(server_pid),
            warm_up: WARM_UP,
            measurement: MARGIN + self.window + MARGIN,
            grace: GRACE,
            background: self.server.workload.background(Spacing::default()),
            ..LoadPlan::new(target, self.server.requests.clone(), arrivals)
        }
    }

    /// Watches a running server under this load.
    ///
    /// # Errors
    ///
    /// If the load fails, or if the profiler does not work.
    pub async fn under_load(
        &self,
        profiler: Profiler,
        name: &str,
        url: &Uri,
        plan: LoadPlan,
    ) -> Result<Observation, Failure> {
        let target = self.instruments.sampler.then(|| lab_load::address(url)).transpose()?;
        let get = target.map(|target| {
            move |path: String| -> Fetching {
                Box::pin(async move {
                    let answer = lab_load::get(target, &path).await?;
                    Ok((answer.status, answer.body))
                })
            }
        });
        let sampler = get.as_ref().map(|get| get as &Sampler<'_>);
        let pid = plan.server_pid.context("the server has no process here")?;
        let process = Process { pid, sampler, dir: self.scratch, name, window: self.window };
        let load = async { generate(&plan).await.map_err(Failure::Fatal) };
        let seen = tokio::try_join!(load, self.see(profiler, process, url));
        let (outcome, (reading, spans, threads)) = seen?;
        // Reading takes long and competes with the server for CPU time, so it comes after the measurement.
        Ok(Observation {
            name: name.to_owned(),
            recording: reading.await?,
            measured: outcome.measured,
            // The CPU time is that of all of them.
            answered: outcome.ok_in_time * Request::of_visit(&self.server.requests).len() as u64
                + outcome.background_in_time,
            requests: outcome.requests,
            routes: Vec::new(),
            cpu: outcome.server_cpu,
            spans,
            threads,
            slowest: None,
        })
    }

    async fn see<'a>(
        &'a self,
        profiler: Profiler,
        process: Process<'a>,
        url: &Uri,
    ) -> Result<(ReadingFuture<'a>, Option<Spans>, Option<ThreadStates>), Failure> {
        tokio::time::sleep(WARM_UP + MARGIN).await;
        let sampling = self.profilers.sample(profiler, process);
        let (reading, threads) = if self.instruments.threads {
            tokio::join!(sampling, watch_threads(process.pid, self.window))
        } else {
            (sampling.await, None)
        };
        let reading = reading?;
        // At once, while the load still runs.
        let spans = match self.instruments.spans {
            SpanSource::Server => Some(spans(url, SPANS).await.map_err(Failure::Fatal)?),
            SpanSource::Nowhere | SpanSource::File(_) => None,
        };
        Ok((reading, spans, threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_server_is_recorded_for_ten_answers_and_three_of_each_user() {
        let usual = Duration::from_secs(5);
        for ms in [0, 1, 300, 400, 1500, 3000, 20_000] {
            let visit = Duration::from_millis(ms);
            for users in [1, 2, 8, 10, 1000] {
                let window = window(usual, visit, users);
                let of_each = window.as_millis() / u128::from(ms.max(1));
                assert!(of_each >= 3 && of_each * users as u128 >= 10, "{ms} {users}: {window:?}");
                let is_fast = ms * 10 <= 5000;
                assert!(!is_fast || window == usual, "{ms} {users}: {window:?}");
            }
        }
    }
}

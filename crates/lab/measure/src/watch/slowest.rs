//! Random arrivals after a recording, on the same running server: why the slowest of them are slow.

use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use http::Uri;
use lab_observation::{Observation, SlowestRequests, SpanTail, Spans, Tail};
use lab_protocol::{Arrivals, Load, OpenLoop, Request};
use lab_servers::Server;

use super::{
    ServerUnderLoad,
    arrivals::{RandomArrivals, RandomLoad, WARM_UP, half_of},
};
use crate::workload::OPEN_LOOP_USERS;

/// They come for as long as the recording took, and at most for so long.
const LONGEST: Duration = Duration::from_secs(5);
/// Fewer have no slowest hundredth.
const FEWEST: f64 = 200.0;
/// Where a server answers with its spans.
const SPANS: &str = "/.lab/spans?last_ms=";

/// What the arrivals showed, and the spans since the measurement began.
pub struct Slowest {
    arrivals: RandomArrivals,
    /// Whether a request of an arrival is one span, and only theirs are spans.
    alone: bool,
    spans: Option<Spans>,
}

/// The load for a server that was recorded like this. `None` for one that is too slow.
pub fn load(
    server: &ServerUnderLoad,
    recorded: &Observation,
    window: Duration,
) -> Option<RandomLoad> {
    let ServerUnderLoad { requests, workload, .. } = server;
    let load = match workload.arrivals() {
        Arrivals::OpenLoop(load) => load,
        Arrivals::ClosedLoop(Load { users, connections, .. }) => {
            let others: f64 = workload.background.iter().map(|(rate, _)| rate).sum();
            let answered = recorded.answered as f64 / recorded.measured.as_secs_f64();
            let visits = (answered - others) / Request::of_visit(requests).len().max(1) as f64;
            // As many as the closed loop had, because more might not be served; but arrivals at one connection would
            // wait for each other.
            let users = users.max(OPEN_LOOP_USERS.0);
            let load = OpenLoop::new(half_of(visits), users * connections);
            OpenLoop { connections_per_user: connections, ..load }
        }
    };
    RandomLoad::new(requests, load, &workload.background, window.min(LONGEST), FEWEST)
}

impl Slowest {
    /// Sends this load to the server, which answers with its spans if `url` is given.
    pub async fn of(
        load: RandomLoad,
        under_load: &ServerUnderLoad,
        server: &Server,
        pid: u32,
        url: Option<&Uri>,
    ) -> anyhow::Result<Self> {
        let arrivals = load.send(server, pid).await?;
        let began = arrivals.outcome.visits.as_ref().and_then(|visits| visits.began_unix_us);
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let since = began.map(|began| now.saturating_sub(Duration::from_micros(began)));
        let spans = match url.zip(since) {
            Some((url, since)) => {
                let spans = spans(url, since).await?;
                // The server's clock is read after ours, so this is not too early.
                let since_us = spans.now_us.saturating_sub(since.as_micros() as u64);
                let [_, its] = spans.split(since_us);
                Some(its)
            }
            None => None,
        };
        let alone = under_load.workload.background.is_empty();
        Ok(Self { arrivals, alone, spans })
    }

    /// Takes the spans of the arrivals out of those that the server wrote from its start to its end.
    pub fn take_from(&mut self, all: Spans) -> Spans {
        // Both clocks show when the last request was answered.
        let last = all.spans.iter().filter(|span| span.parent.is_none());
        let last_us = last.filter_map(|span| span.end_us).max();
        let Some((last_us, answer_us)) = last_us.zip(self.arrivals.last_answer_us()) else {
            return all;
        };
        let since_us = last_us.saturating_sub(answer_us);
        let [recorded, later] = all.split(since_us.saturating_sub(WARM_UP.as_micros() as u64));
        let [_, its] = later.split(since_us);
        self.spans = Some(its);
        recorded
    }

    /// The arrivals in short, if a visit has so many requests.
    pub fn found(&self, requests: usize) -> SlowestRequests {
        let Self { arrivals, alone, spans } = self;
        let tail: Option<Tail> = arrivals.tail();
        let of_spans = |spans| SpanTail::of(spans, 0, tail.as_ref().filter(|_| requests == 1));
        // A span doesn't say who asked.
        let spans = spans.as_ref().filter(|_| *alone && arrivals.outcome.invalid.is_none());
        SlowestRequests {
            rate_per_s: arrivals.rate_per_s,
            p50_ms: arrivals.quantile_ms(0.5),
            p99_ms: arrivals.quantile_ms(0.99),
            is_late: arrivals.outcome.invalid.is_some(),
            spans: spans.and_then(of_spans),
            tail,
        }
    }
}

/// The spans of the requests that were open this long ago, or later.
///
/// # Errors
///
/// If the server does not answer them.
pub async fn spans(url: &Uri, since: Duration) -> anyhow::Result<Spans> {
    let path = format!("{SPANS}{}", since.as_millis() + 1);
    let answer =
        lab_load::get_text(url, &path).await.context("the server does not answer its spans")?;
    serde_json::from_str(&answer).context("the server's spans cannot be parsed")
}

#[cfg(test)]
mod tests {
    use lab_observation::Span;
    use lab_protocol::{Outcome, VisitEnd, Visits};

    use super::*;

    /// Spans of requests that begin at these times, in milliseconds, and last for one.
    fn requests(at_ms: impl Iterator<Item = u64>) -> Vec<Span> {
        let span = |(id, ms): (u64, u64)| Span {
            id,
            parent: None,
            name: "get".to_owned(),
            start_us: 1_000 * ms,
            end_us: Some(1_000 * ms + 1_000),
        };
        (1..).zip(at_ms).map(span).collect()
    }

    #[test]
    fn the_spans_of_the_arrivals_are_taken_out_of_a_file() {
        // The server starts, a second before the load. After a pause of half a second, arrivals come, of which those in
        // the first 400 ms are its warm-up; and the measurement begins at 3,400 ms.
        let spans = requests((1_000..2_500).chain(3_000..4_400));
        let all = Spans { spans, now_us: 5_000_000, ..Spans::default() };
        let due_us: Vec<_> = (0..1_000).map(|ms| 1_000 * ms).collect();
        let visits = Visits {
            kind: vec![0; due_us.len()],
            latency_us: vec![1_000; due_us.len()],
            answer: vec![VisitEnd::Right; due_us.len()],
            due_us,
            began_unix_us: Some(0),
        };
        let outcome = Outcome { visits: Some(visits), ..Outcome::default() };
        let arrivals = RandomArrivals { rate_per_s: 1_000.0, outcome, threads: None };
        let mut slowest = Slowest { arrivals, alone: true, spans: None };
        let recorded = slowest.take_from(all);
        assert_eq!((recorded.spans.len(), recorded.now_us), (1_500, 3_000_000));
        assert_eq!(slowest.spans.unwrap().spans.len(), 1_000);
    }
}

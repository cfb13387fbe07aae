//! Spans: what a request does or waits for, from a start to an end.

#[cfg(feature = "profile")]
pub(crate) use recorder::{answer, start};

/// A span that ends when it is dropped.
#[must_use = "the span ends when this is dropped"]
#[derive(Debug)]
pub struct Span {
    #[cfg(feature = "profile")]
    id: u64,
}

/// Begins a span of the current request. Does nothing without the feature `profile`.
pub fn span(name: &'static str) -> Span {
    #[cfg(not(feature = "profile"))]
    let _ = name;
    Span {
        #[cfg(feature = "profile")]
        id: recorder::open(name),
    }
}

#[cfg(feature = "profile")]
impl Drop for Span {
    fn drop(&mut self) {
        recorder::close(self.id);
    }
}

/// Records `answer` as one request, to which all spans that begin in it belong.
///
/// A request that is dropped, because its client left, was never answered: it stays open.
#[cfg(feature = "profile")]
pub async fn request<F: Future>(answer: F) -> F::Output {
    let request = recorder::open("request");
    let output = recorder::REQUEST.scope(request, answer).await;
    recorder::close(request);
    output
}

/// Records nothing without the feature `profile`.
#[cfg(not(feature = "profile"))]
pub fn request<F: Future>(answer: F) -> F {
    answer
}

#[cfg(feature = "profile")]
mod recorder {
    use std::{
        sync::{LazyLock, Mutex, MutexGuard, PoisonError},
        time::Instant,
    };

    use hyper::Uri;

    use crate::{
        query::number,
        record::Record,
        report::{JSON, Report, failed},
    };

    /// Twelve seconds of the busiest case, in 12 MB.
    const CAPACITY: usize = 1 << 18;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    static RECORD: Mutex<Record> = Mutex::new(Record::new(CAPACITY));

    tokio::task_local! {
        /// The span of the request that this task answers.
        pub(super) static REQUEST: u64;
    }

    fn now_us() -> u64 {
        START.elapsed().as_micros().try_into().unwrap_or(u64::MAX)
    }

    fn record() -> MutexGuard<'static, Record> {
        RECORD.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the time 0.
    pub(crate) fn start() {
        LazyLock::force(&START);
    }

    pub(super) fn open(name: &'static str) -> u64 {
        let request = REQUEST.try_with(|request| *request).ok();
        // Read the clock under the lock, so that spans are in the order of their starts.
        let mut record = record();
        record.open(request, name, now_us())
    }

    pub(super) fn close(id: u64) {
        record().close(id, now_us());
    }

    pub(crate) fn answer(uri: &Uri) -> Report {
        let last_ms = number(uri, "last_ms", 2000, 0..=86_400_000)?;
        let recorded = {
            let record = record();
            let now_us = now_us();
            record.since(now_us.saturating_sub(last_ms * 1000), now_us)
        };
        Ok((JSON, serde_json::to_string(&recorded).map_err(failed)?))
    }
}

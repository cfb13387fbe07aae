//! A layer of `tracing` that records when spans are made and dropped.
//!
//! From making to drop, and not only while a thread is in them: what is looked for are waits.

use std::{
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tracing::{
    Level, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id},
    subscriber::Interest,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

use super::{JSON, Query, Told, failed, record::Record};

/// Twelve seconds of the busiest case, in 12 MB.
const CAPACITY: usize = 1 << 18;
/// What is told if nobody says how much, in milliseconds.
const USUAL_LAST_MS: u64 = 2000;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
static RECORD: Mutex<Record> = Mutex::new(Record::new(CAPACITY));

fn now_us() -> u64 {
    START.elapsed().as_micros().try_into().unwrap_or(u64::MAX)
}

fn record() -> MutexGuard<'static, Record> {
    RECORD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records all spans from now on. In a process with a subscriber of its own nothing is recorded.
pub(super) fn start() {
    LazyLock::force(&START);
    let _ = tracing::subscriber::set_global_default(Registry::default().with(Recorder));
}

pub(super) fn answer(query: Query<'_>) -> Told {
    let last_ms = query.number("last_ms", USUAL_LAST_MS, 0..=86_400_000)?;
    let told = {
        let record = record();
        let now_us = now_us();
        record.since(now_us.saturating_sub(last_ms * 1000), now_us)
    };
    Ok((JSON, serde_json::to_string(&told).map_err(failed)?))
}

struct Recorder;

/// A span's number in the record, kept with the span: `tracing` uses its own numbers again.
struct Number(u64);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    /// Events and finer spans, of which libraries have many, cost nothing.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match metadata.is_span() && *metadata.level() <= Level::INFO {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let parent = span.parent();
        let parent = parent.and_then(|parent| Some(parent.extensions().get::<Number>()?.0));
        // The clock is read under the lock, so that spans are in the order of their starts.
        let mut record = record();
        let number = record.open(parent, attributes.metadata().name(), now_us());
        drop(record);
        span.extensions_mut().insert(Number(number));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(Number(number)) = span.extensions().get() {
            record().close(*number, now_us());
        }
    }
}

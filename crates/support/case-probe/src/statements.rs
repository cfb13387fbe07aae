//! Counts the statements that SQLx executes.
//!
//! After each statement, SQLx asks `tracing` whether anybody wants a log line about it. This counts the
//! question and declines the line, which would cost allocations.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::{Interest, set_global_default},
};

static STATEMENTS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn start() {
    // An error means that another server in this process has started it already.
    let _ = set_global_default(Counter);
}

/// A field of a JSON object, after others: `,"statements":N`. Empty in a server without a database.
pub(crate) fn field() -> String {
    match STATEMENTS.load(Relaxed) {
        0 => String::new(),
        count => format!(",\"statements\":{count}"),
    }
}

struct Counter;

impl Subscriber for Counter {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // `never` would end the questions.
        match metadata.target() {
            "sqlx::query" => Interest::sometimes(),
            _ => Interest::never(),
        }
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        STATEMENTS.fetch_add(1, Relaxed);
        false
    }

    // No span or event is enabled, so nothing calls these.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

//! Observations of a server under load, as data.
//!
//! - `recording`: what a [`Profiler`] recorded, and how far to trust it.
//! - `languages`: how each language's threads start, what its functions are for, how to unwind it.
//! - `stacks`: [`Folded`] stacks are plain data. They are simplified, and scaled to what one request
//!   costs.
//! - `threads`: [`ThreadStates`] shows what each thread did, and in which system call it was blocked.
//! - `spans`: what the server itself recorded of its requests.
//! - `tail`: why the slowest of random arrivals are slow, by the threads and by the spans.
//! - `observations`: a [`Topic`] is what a page is about, and [`Observations`] all that is known of its
//!   servers.

#![warn(clippy::missing_errors_doc)]

mod chrome;
mod languages;
mod observations;
mod recording;
mod route_cost;
mod spans;
mod stacks;
mod tail;
mod threads;

pub use languages::{LANGUAGES, Language, Languages, Pattern};
pub use observations::{Heap, Observation, Observations, Topic};
pub use recording::{ENOUGH_SAMPLES, Inlined, Kernel, Profiler, Recording, Unwinder, Window};
pub use route_cost::{RequestRow, RouteCost};
pub use spans::{Part, Span, Spans, TracedRequest};
pub use stacks::{
    Folded, Function, JIT, KERNEL, KeptHeap, KeptStack, Node, Row, Sampling, UNKNOWN, Unit, View,
    changed, inlined, top, top_inclusive,
};
pub use tail::{
    Cause, Company, Held, SlowestRequests, SpanCause, SpanShare, SpanTail, Tail, TailDifference,
};
pub use threads::{STARVED, State, Thread, ThreadStates, shares};

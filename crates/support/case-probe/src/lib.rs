//! What an instrumented case server reports: allocation counts, spans, CPU and heap samples.
//!
//! Everything is behind a feature. An instrumented server prints [`ANNOUNCEMENTS`] before it listens,
//! so that nobody times it by mistake, and it answers below `/.lab/` before the case's routes do.

#[cfg(feature = "count-allocations")]
mod allocations;
#[cfg(any(feature = "count-allocations", feature = "profile-heap"))]
mod allocator;
#[cfg(all(feature = "profile", unix))]
mod cpu;
#[cfg(feature = "profile-heap")]
mod heap;
pub mod net;
#[cfg(feature = "profile")]
mod query;
#[cfg(feature = "profile")]
mod record;
#[cfg(feature = "routes")]
mod report;
#[cfg(feature = "routes")]
mod routes;
mod spans;
#[cfg(feature = "count-allocations")]
mod statements;
pub mod sync;
mod work;

#[cfg(feature = "routes")]
pub use routes::answer;
pub use spans::{Span, span};
pub use work::work;

/// The lines that a server prints before `listening on`, one for each kind of instrument.
pub const ANNOUNCEMENTS: &[&str] = &[
    #[cfg(feature = "count-allocations")]
    "counting allocations",
    #[cfg(feature = "profile")]
    "profiling",
];

/// Starts to record spans and allocations. Takes a moment with the feature `profile`.
pub fn start() {
    #[cfg(all(feature = "profile", unix))]
    cpu::start();
    #[cfg(feature = "profile")]
    spans::start();
    #[cfg(any(feature = "count-allocations", feature = "profile-heap"))]
    allocator::start();
    #[cfg(feature = "count-allocations")]
    statements::start();
}

/// Wraps the `answer` of one request: spans and work that begin in it belong to it.
pub fn request<F: Future>(answer: F) -> impl Future<Output = F::Output> {
    spans::request(work::request(answer))
}

/// Answers requests to `/.lab/`; without a feature it answers nothing.
#[cfg(not(feature = "routes"))]
pub async fn answer(_: &hyper::Uri) -> Option<hyper::Response<http_body_util::Full<bytes::Bytes>>> {
    None
}

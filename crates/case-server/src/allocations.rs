//! The allocations of the running server, counted over all its threads.
//!
//! Only with the feature `count-allocations`. A server that counts says so before it listens, so
//! that nobody times it by mistake, and answers [`PATH`] itself, before the case's routes see it.

use std::alloc::System;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, header};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The line that a server which counts prints before `listening on`.
pub const ANNOUNCEMENT: &str = "counting allocations";
/// Where it answers with its counts so far.
pub const PATH: &str = "/.lab/allocations";

/// The counts so far, if `request` asks for them: `{"allocations":N,"bytes":N}`.
///
/// A buffer that grows in place counts as one allocation, of as many bytes as it grows by.
/// The answer is made of allocations too, and so is the next one: who asks twice in a row
/// knows what asking costs.
pub(crate) fn answer<B>(request: &Request<B>) -> Option<Response<Full<Bytes>>> {
    if request.uri().path() != PATH {
        return None;
    }
    let stats = GLOBAL.stats();
    let allocations = stats.allocations + stats.reallocations;
    let json = format!("{{\"allocations\":{allocations},\"bytes\":{}}}\n", stats.bytes_allocated);
    let mut response = Response::new(Full::from(json));
    let content_type = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Some(response)
}

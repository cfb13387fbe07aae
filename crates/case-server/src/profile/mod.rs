//! What a server tells of itself while it is profiled.
//!
//! Only with the feature `profile` (spans, CPU time) or `profile-heap` (allocations too). Such a
//! server says so before it listens, so that nobody times it by mistake, and answers below
//! `/.lab/` itself, before the case's routes see it.

#[cfg(unix)]
mod cpu;
#[cfg(feature = "profile-heap")]
mod heap;
mod query;
mod record;
mod recorder;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, StatusCode, header};

use query::Query;

/// The line that a server which is built to be profiled prints before `listening on`.
pub const ANNOUNCEMENT: &str = "profiling";
/// `GET` with `?last_ms=2000` answers with spans:
/// `{"now_us":..,"dropped":..,"complete_since_us":..,"spans":[{"id":..,"parent":..,"name":..,
/// "start_us":..,"end_us":..}]}`, times in microseconds since the server's start, `null` for the end of
/// what is open. Told are all requests that were under way at some time in the last so many
/// milliseconds, each with all that happened in it.
pub const SPANS: &str = "/.lab/spans";
/// `GET` with `?ms=5000&hz=499` waits so long and answers with folded stacks, in samples; with 409
/// while another question waits. `&skip_libc=1` is for systems on which it gets stuck.
pub const CPU: &str = "/.lab/cpu";
/// `GET` answers with what was allocated in which stack since the start or the last [`HEAP_RESET`]:
/// `{"samples":..,"bytes":..,"mean_distance":..,"folded":".."}`, in estimated bytes. `?inlined=1` tells
/// functions that were inlined too.
pub const HEAP: &str = "/.lab/heap";
/// `GET` starts the account of allocations again from nothing.
pub const HEAP_RESET: &str = "/.lab/heap/reset";

/// What is answered: a content type and a body, or a status and what is wrong.
type Told = Result<(&'static str, String), (StatusCode, String)>;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// Starts to record. From here on all spans count, and what is allocated.
pub(crate) fn start() {
    recorder::start();
    #[cfg(feature = "profile-heap")]
    heap::start();
}

/// The answer, if `request` asks the profiler and not the case.
pub(crate) async fn answer<B>(request: &Request<B>) -> Option<Response<Full<Bytes>>> {
    let query = Query::of(request.uri());
    let told = match request.uri().path() {
        SPANS => recorder::answer(query),
        #[cfg(unix)]
        CPU => cpu::answer(query).await,
        #[cfg(feature = "profile-heap")]
        HEAP => heap::answer(query).await,
        #[cfg(feature = "profile-heap")]
        HEAP_RESET => heap::reset(),
        _ => return None,
    };
    Some(respond(told))
}

fn respond(told: Told) -> Response<Full<Bytes>> {
    let (status, content_type, text) = match told {
        Ok((content_type, text)) => (StatusCode::OK, content_type, text),
        Err((status, text)) => (status, TEXT, format!("{text}\n")),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

fn failed(error: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

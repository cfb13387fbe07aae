//! The routes of the probe.
//!
//! - `/.lab/allocations`: `{"allocations":N,"bytes":N}` since the start, and the counts of work, of SQLx's
//!   statements, and of writes.
//! - `/.lab/spans?last_ms=2000`: `{"now_us":..,"dropped":..,"complete_since_us":..,"spans":[{"id":..,
//!   "parent":..,"name":..,"start_us":..,"end_us":..}]}`. Times are microseconds since the server's
//!   start, and `end_us` is `null` while a span is open. The answer has every request that was open at
//!   some time in the last `last_ms` milliseconds, with all its spans.
//! - `/.lab/cpu?ms=5000&hz=499`: samples for `ms` milliseconds, then answers how often. 409 while another
//!   request samples. `&skip_libc=1` is for systems on which it gets stuck.
//! - `/.lab/cpu/stacks`: these samples as folded stacks. Ask for it once nothing is measured any more.
//! - `/.lab/heap`: `{"samples":..,"bytes":..,"mean_distance":..,"folded":".."}` since the start or the last
//!   `/.lab/heap/reset`, in estimated bytes. `?inlined=1` adds the functions that were inlined.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Response, StatusCode, Uri, header};

use crate::report::TEXT;

/// Answers a request to `uri` if it is for the probe and not for the case.
pub async fn answer(uri: &Uri) -> Option<Response<Full<Bytes>>> {
    let report = match uri.path() {
        #[cfg(feature = "count-allocations")]
        "/.lab/allocations" => crate::allocations::answer(),
        #[cfg(feature = "profile")]
        "/.lab/spans" => crate::spans::answer(uri),
        #[cfg(all(feature = "profile", unix))]
        "/.lab/cpu" => crate::cpu::answer(uri).await,
        #[cfg(all(feature = "profile", unix))]
        "/.lab/cpu/stacks" => crate::cpu::stacks().await,
        #[cfg(feature = "profile-heap")]
        "/.lab/heap" => crate::heap::answer(uri).await,
        #[cfg(feature = "profile-heap")]
        "/.lab/heap/reset" => crate::heap::reset(),
        _ => return None,
    };
    let (status, content_type, text) = match report {
        Ok((content_type, text)) => (StatusCode::OK, content_type, text),
        Err((status, text)) => (status, TEXT, format!("{text}\n")),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Some(response)
}

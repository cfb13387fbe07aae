//! When does it matter that a client is built for every request? Authorities and handshake cost the
//! same whatever is fetched. The longer the fetch takes, the smaller their share.
//!
//! `sweep-per-request-client`: the parameter is the size of the body in bytes, and the upstream answers
//! at once. `sweep-per-request-client-wait`: a body of 16,000 bytes; the parameter is how long the
//! upstream takes to answer, in milliseconds. Both measure the latency of one request at a time, not its
//! CPU time. The proxy streams the body.

mod site;

use std::process::ExitCode;

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
};
use benches::behind_upstream::{self, proxy};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, measurement::WallTime};
use http_body_util::BodyExt as _;
use per_request_client::{fixed, slow};
use tokio::runtime::Runtime;
use tower::util::ServiceExt as _;

use crate::site::Site;

const BODIES: [usize; 7] = [1_000, 16_000, 128_000, 1_000_000, 8_000_000, 64_000_000, 256_000_000];
/// Bodies of this many bytes and more get only ten samples.
const LARGE: usize = 8_000_000;
const WAITS_MS: [u64; 7] = [0, 1, 5, 10, 20, 50, 100];
/// Waits of this many milliseconds and more get only ten samples.
const LONG_MS: u64 = 20;
/// The body behind a wait, in bytes.
const BODY: usize = 16_000;

/// Fetches the body piece by piece, as a browser does.
async fn fetch(proxy: &Router, bytes: usize, wait_ms: u64) {
    let request = Request::get(format!("/{bytes}/{wait_ms}")).body(Body::empty());
    let Ok(response) = proxy.clone().oneshot(request.expect("the path is valid")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let mut fetched = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.expect("the whole body arrives");
        fetched += frame.data_ref().map_or(0, |data| data.len());
    }
    assert_eq!(fetched, bytes);
}

/// Measures both variants with one parameter.
struct Sweep<'a> {
    group: BenchmarkGroup<'a, WallTime>,
    runtime: Runtime,
    variants: [(&'static str, Router); 2],
}

impl<'a> Sweep<'a> {
    fn new(c: &'a mut Criterion, name: &str) -> Self {
        let variants = [("slow", proxy(slow::routes)), ("fixed", proxy(fixed::routes))];
        Self { group: c.benchmark_group(name), runtime: benches::two_workers(), variants }
    }

    fn measure(&mut self, parameter: impl ToString, bytes: usize, wait_ms: u64) {
        for (variant, proxy) in &self.variants {
            let id = BenchmarkId::new(*variant, parameter.to_string());
            self.group.bench_function(id, |bencher| {
                bencher.to_async(&self.runtime).iter(|| fetch(proxy, bytes, wait_ms));
            });
        }
    }
}

fn per_request_client(c: &mut Criterion) {
    let mut sweep = Sweep::new(c, "sweep-per-request-client");
    for bytes in BODIES {
        if bytes >= LARGE {
            sweep.group.sample_size(10);
        }
        sweep.measure(bytes, bytes, 0);
    }
    drop(sweep);

    let mut sweep = Sweep::new(c, "sweep-per-request-client-wait");
    for wait_ms in WAITS_MS {
        if wait_ms >= LONG_MS {
            sweep.group.sample_size(10);
        }
        sweep.measure(wait_ms, BODY, wait_ms);
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = per_request_client }

fn main() -> anyhow::Result<ExitCode> {
    if benches::ran_each_alone()? {
        return Ok(ExitCode::SUCCESS);
    }
    behind_upstream::run_before(Site::start, benches)
}

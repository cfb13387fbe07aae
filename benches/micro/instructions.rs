//! The instructions of one request, from the framework to the answer, counted by Valgrind.
//!
//! Valgrind simulates a processor with one thread, so the count repeats exactly. `per-request-client`
//! is missing, since its cost is real sockets and a second process; `lab count` counts those.

use std::time::Duration;

use axum::http::Request;
use bytes::Bytes;
use case_server::InProcess;
use gungraun::prelude::*;
use tokio::runtime::{Builder, Runtime};
use warp::service;

/// A variant that has answered once, with a request to ask again.
struct Ready {
    runtime: Runtime,
    routes: InProcess,
    request: Request<Bytes>,
}

impl Ready {
    /// The first request also sets up what later requests reuse, so it is not the one that is counted.
    fn new(routes: InProcess, request: fn() -> Request<Bytes>) -> Self {
        // Virtual time: on a real clock a timer fires before its task sleeps, or after, by chance.
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a Tokio runtime can be started");
        let mut ready = Self { runtime, routes, request: request() };
        ready.ask();
        ready.request = request();
        ready
    }

    fn ask(&mut self) -> Bytes {
        let request = std::mem::replace(&mut self.request, Request::new(Bytes::new()));
        let (status, answer) = self.runtime.block_on(self.routes.ask(request));
        assert_eq!(status, 200);
        answer
    }
}

fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).expect("the path is valid")
}

fn rounds() -> Request<Bytes> {
    get("/cpu?rounds=1000")
}

fn read() -> Request<Bytes> {
    get("/read")
}

fn documents() -> Request<Bytes> {
    get("/summary?documents=100")
}

// 1,000 rounds.
#[library_benchmark]
#[bench::slow(Ready::new(InProcess::new(service(hot_clone::slow::routes())), rounds))]
#[bench::fixed(Ready::new(InProcess::new(service(hot_clone::fixed::routes())), rounds))]
fn hot_clone_request(mut ready: Ready) -> (Bytes, Ready) {
    // Returned, so that dropping it is not counted.
    (ready.ask(), ready)
}

// 100 documents.
#[library_benchmark]
#[bench::slow(Ready::new(
    InProcess::new(double_parse::routes(double_parse::slow::summarise)),
    documents
))]
#[bench::no_clone(Ready::new(
    InProcess::new(double_parse::routes(double_parse::steps::no_clone::summarise)),
    documents
))]
#[bench::fixed(Ready::new(
    InProcess::new(double_parse::routes(double_parse::fixed::summarise)),
    documents
))]
#[bench::borrowed(Ready::new(
    InProcess::new(double_parse::routes(double_parse::steps::borrowed::summarise)),
    documents
))]
fn double_parse_request(mut ready: Ready) -> (Bytes, Ready) {
    (ready.ask(), ready)
}

// One read whose downstream answers at once.
#[library_benchmark]
#[bench::slow(Ready::new(InProcess::new(service(lock_scope::slow::routes(Duration::ZERO))), read))]
#[bench::rwlock_held(Ready::new(
    InProcess::new(service(lock_scope::steps::rwlock_held::routes(Duration::ZERO))),
    read
))]
#[bench::fixed(Ready::new(
    InProcess::new(service(lock_scope::fixed::routes(Duration::ZERO))),
    read
))]
fn lock_scope_request(mut ready: Ready) -> (Bytes, Ready) {
    (ready.ask(), ready)
}

library_benchmark_group!(
    name = cases,
    benchmarks = [hot_clone_request, double_parse_request, lock_scope_request]
);
main!(library_benchmark_groups = cases);

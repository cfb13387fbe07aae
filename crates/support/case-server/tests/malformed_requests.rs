//! Requests that begin right and go wrong, to all variants of the cases: none is the server's fault, and
//! all variants give the same answer.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::Bytes;
use case_server::InProcess;
use hyper::Request;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Reads `METHOD PATH`, and the body from the next line on.
fn request(text: &str) -> Option<Request<Bytes>> {
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let (method, path) = head.split_once(' ')?;
    Request::builder().method(method).uri(path).body(body.to_owned().into()).ok()
}

/// Sends each request to all variants before the next one, which may see what it wrote.
fn all_answer_alike(runtime: &Runtime, variants: &[(&str, InProcess)], good: &[&str]) {
    malformed_input::texts(good, |text| {
        let Some(request) = request(text) else { return };
        let ask = |(name, variant): &(_, InProcess)| {
            (*name, runtime.block_on(variant.ask(request.clone())))
        };
        let answers: Vec<_> = variants.iter().map(ask).collect();
        for (variant, answer) in &answers {
            assert!(answer.0 < 500, "{variant}: {answer:?}");
            assert_eq!(*answer, answers[0].1, "{variant}");
        }
    });
}

#[test]
fn malformed_logins_are_refused_alike() {
    let runtime = runtime();
    let cheap = blocked_worker::Options { memory_kib: 8, passes: 1 };
    let login = "POST /login\n{\"user\":\"ada\",\"password\":\"difference engine\"}";
    let escaped =
        "POST /login\n{\"password\":\"nano\\u0073econds\",\"user\":\"grace\",\"id\":[1,{}]}";
    let variants = blocked_worker::variants(cheap).unwrap();
    all_answer_alike(&runtime, &variants, &[login, escaped, "GET /health"]);
}

#[test]
fn malformed_renames_are_refused_alike() {
    let runtime = runtime();
    let database = runtime.block_on(query_per_row::Options::default().connect()).unwrap();
    let variants = query_per_row::variants(&database);
    let good =
        ["PUT /customers/169/Ada%20L.", "PUT /customers/6216/O'Brien", "GET /orders?limit=2"];
    all_answer_alike(&runtime, &variants, &good);
}

#[test]
fn malformed_labels_are_refused_alike() {
    let runtime = runtime();
    let good = ["GET /labels/17", "PUT /labels/17\nParcel 17", "GET /labels/500?x=1"];
    all_answer_alike(&runtime, &small_writes::variants(small_writes::Options::default()), &good);
}

#[test]
fn malformed_paths_are_refused_alike() {
    let runtime = runtime();
    let good = ["PUT /clients/new/7", "GET /read", "GET /read?x=1"];
    all_answer_alike(&runtime, &lock_scope::variants(Duration::ZERO), &good);
}

#[test]
fn malformed_queries_are_refused_alike() {
    let runtime = runtime();
    all_answer_alike(
        &runtime,
        &hot_clone::variants(),
        &["GET /cpu?rounds=10", "GET /cpu?rounds=1&x"],
    );
    let variants = double_parse::VARIANTS
        .map(|(name, summarise)| (name, InProcess::new(double_parse::routes(summarise))));
    let good = ["GET /summary?documents=1&seed=7", "GET /summary?documents=10"];
    all_answer_alike(&runtime, &variants, &good);
}

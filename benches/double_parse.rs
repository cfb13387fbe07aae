//! One reply of 10,000 documents, as the case itself sends it, without the kernel's part in it.

use axum::http::Request;
use bytes::Bytes;
use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use double_parse::{
    batch, fixed, slow,
    steps::{borrowed, no_clone},
};

const DOCUMENTS: u32 = 10_000;

fn double_parse(c: &mut Criterion) {
    let runtime = benches::runtime();
    let reply = Bytes::from(batch::find_reply(DOCUMENTS));

    let mut group = c.benchmark_group("double-parse");
    group.throughput(Throughput::Bytes(reply.len() as u64));
    for (variant, routes) in [
        ("slow", InProcess::new(slow::routes())),
        ("no-clone", InProcess::new(no_clone::routes())),
        ("fixed", InProcess::new(fixed::routes())),
        ("borrowed", InProcess::new(borrowed::routes())),
    ] {
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                // A clone of `Bytes` copies a pointer and not the reply.
                let request = Request::post("/summary").body(reply.clone());
                let (status, summary) = routes.ask(request.expect("the path is valid")).await;
                assert_eq!(status, 200);
                assert!(summary.starts_with(br#"{"namespace":"foo.bar","documents":10000,"#));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = double_parse }
criterion_main!(benches);

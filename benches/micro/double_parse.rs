//! One reply of 10,000 documents, as the case itself sends it, but without a socket.

use axum::http::Request;
use bytes::Bytes;
use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use double_parse::{VARIANTS, batch, routes};

const DOCUMENTS: u32 = 10_000;

fn double_parse(c: &mut Criterion) {
    let runtime = benches::runtime();
    let reply = Bytes::from(batch::find_reply(DOCUMENTS));

    let mut group = c.benchmark_group("double-parse");
    group.throughput(Throughput::Bytes(reply.len() as u64));
    for (variant, summarise) in VARIANTS {
        let service = InProcess::new(routes(summarise));
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                // A clone of `Bytes` copies a pointer, not the reply.
                let request = Request::post("/summary").body(reply.clone());
                let (status, summary) = service.ask(request.expect("the path is valid")).await;
                assert_eq!(status, 200);
                assert!(summary.starts_with(br#"{"namespace":"foo.bar","documents":10000,"#));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = double_parse }
criterion_main!(benches);

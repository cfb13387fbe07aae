//! One reply of 10,000 documents, as in the case's own load, but without a socket.

use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use double_parse::{VARIANTS, routes};

const DOCUMENTS: u64 = 10_000;

fn double_parse(c: &mut Criterion) {
    let runtime = benches::runtime();
    let path = format!("/summary?documents={DOCUMENTS}");

    let mut group = c.benchmark_group("double-parse");
    group.throughput(Throughput::Elements(DOCUMENTS));
    for (variant, summarise) in VARIANTS {
        let service = InProcess::new(routes(summarise));
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                let (status, summary) = service.get(&path).await;
                assert_eq!(status, 200);
                assert!(summary.starts_with(br#"{"namespace":"foo.bar","documents":10000,"#));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = double_parse }
criterion_main!(benches);

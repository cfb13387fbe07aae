//! One list of 100 orders, in process, with the embedded database: all of the case's work but the socket.

use criterion::{Criterion, criterion_group, criterion_main};
use query_per_row::{Options, variants};

fn query_per_row(c: &mut Criterion) {
    let runtime = benches::runtime();
    let database = runtime.block_on(Options::default().connect()).expect("the database opens");
    let mut group = c.benchmark_group("query-per-row");
    for (variant, routes) in variants(&database) {
        let (_, expected) = runtime.block_on(routes.get("/orders"));
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                assert_eq!(routes.get("/orders").await, (200, expected.clone()));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = query_per_row }
criterion_main!(benches);

//! One request, in process. TODO: say which part of the case's own work this is.

use blocked_worker::variants;
use criterion::{Criterion, criterion_group, criterion_main};

fn blocked_worker(c: &mut Criterion) {
    let runtime = benches::runtime();
    let mut group = c.benchmark_group("blocked-worker");
    for (variant, routes) in variants() {
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                assert_eq!(routes.get("/answer").await, (200, "42".into()));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = blocked_worker }
criterion_main!(benches);

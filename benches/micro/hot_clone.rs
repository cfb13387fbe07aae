//! One request for 100,000 rounds, a tenth of the case's own. The cost of the framework is negligible,
//! and `slow` is still fast enough for ten samples.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hot_clone::variants;

const ROUNDS: u64 = 100_000;

fn hot_clone(c: &mut Criterion) {
    let runtime = benches::runtime();
    let path = format!("/cpu?rounds={ROUNDS}");
    let sum = (0..ROUNDS).map(|i| i + 1 + 2 + 3).sum::<u64>().to_string();

    let mut group = c.benchmark_group("hot-clone");
    group.throughput(Throughput::Elements(ROUNDS));
    for (variant, routes) in variants() {
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                assert_eq!(routes.get(&path).await, (200, sum.clone().into()));
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = hot_clone }
criterion_main!(benches);

//! One request for 100,000 rounds, which is a tenth of the case's own: enough that the rounds are
//! all that is seen, and short enough for ten samples of slow.

use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hot_clone::{fixed, slow};
use warp::service;

const ROUNDS: u64 = 100_000;

fn hot_clone(c: &mut Criterion) {
    let runtime = benches::runtime();
    let path = format!("/cpu?rounds={ROUNDS}");
    let sum = (0..ROUNDS).map(|i| i + 1 + 2 + 3).sum::<u64>().to_string();

    let mut group = c.benchmark_group("hot-clone");
    group.throughput(Throughput::Elements(ROUNDS));
    for (variant, routes) in [
        ("slow", InProcess::new(service(slow::routes()))),
        ("fixed", InProcess::new(service(fixed::routes()))),
    ] {
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

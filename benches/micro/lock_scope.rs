//! 64 reads at once, each with a downstream of 1 ms.
//!
//! With the case's 50 ms, one iteration of `slow` would take 3.2 s. With 1 ms the mechanism is the same:
//! in `slow` one wait follows another, and in `fixed` they overlap.

use std::{hint::black_box, time::Duration};

use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lock_scope::variants;
use tokio::task::JoinSet;

const READS: u64 = 64;
const DOWNSTREAM: Duration = Duration::from_millis(1);

fn lock_scope(c: &mut Criterion) {
    let runtime = benches::runtime();
    let mut group = c.benchmark_group("lock-scope");
    group.throughput(Throughput::Elements(READS));
    for (variant, routes) in variants(DOWNSTREAM) {
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(|| reads_at_once(&routes));
        });
    }
    group.finish();
}

async fn reads_at_once(routes: &InProcess) {
    let mut reads = JoinSet::new();
    for _ in 0..READS {
        let routes = routes.clone();
        reads.spawn(async move { routes.get("/read").await });
    }
    for answer in black_box(reads.join_all().await) {
        assert_eq!(answer, (200, "6".into()));
    }
}

criterion_group! { name = benches; config = benches::criterion(); targets = lock_scope }
criterion_main!(benches);

//! A request for `/health` that comes right behind a login, in process. One thread polls all tasks, as one
//! worker of a server does.

use benches::behind_login;
use blocked_worker::{Options, variants};
use criterion::{Criterion, criterion_group, criterion_main};

fn blocked_worker(c: &mut Criterion) {
    let cost = Options { memory_kib: 19_456, passes: 2 };
    let mut group = c.benchmark_group("blocked-worker");
    for (variant, routes) in variants(cost).expect("this cost is valid") {
        group.bench_function(variant, |bencher| behind_login(bencher, &routes));
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = blocked_worker }
criterion_main!(benches);

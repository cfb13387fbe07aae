//! One request of `hot-clone`, measured by Criterion.

mod rounds;

use criterion::{Criterion, criterion_group, criterion_main};
use hot_clone::variants;

fn request(c: &mut Criterion) {
    let runtime = benches::runtime();
    let (path, sum) = rounds::rounds();
    for (variant, routes) in variants() {
        c.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                assert_eq!(routes.get(&path).await, (200, sum.clone().into()));
            });
        });
    }
}

criterion_group! { name = benches; config = benches::criterion(); targets = request }
criterion_main!(benches);

//! One request of `hot-clone` with as many rounds as the variable ROUNDS says: `just replicate unchanged` changes the work
//! of the same executable, so that nothing else differs.

use criterion::{Criterion, criterion_group, criterion_main};
use hot_clone::variants;

fn rounds(c: &mut Criterion) {
    let rounds: u64 = std::env::var("ROUNDS").map_or(100_000, |it| it.parse().expect("a number"));
    let runtime = benches::runtime();
    let path = format!("/cpu?rounds={rounds}");
    let sum = (0..rounds).map(|i| i + 1 + 2 + 3).sum::<u64>().to_string();
    for (variant, routes) in variants() {
        c.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                assert_eq!(routes.get(&path).await, (200, sum.clone().into()));
            });
        });
    }
}

criterion_group! { name = benches; config = benches::criterion(); targets = rounds }
criterion_main!(benches);

//! When does a query for each row matter? The parameter is the number of rows. The database is embedded, so
//! a query has no round trip.

use criterion::{BenchmarkId, Criterion, criterion_group};
use query_per_row::{Options, variants};

fn query_per_row(c: &mut Criterion) {
    let runtime = benches::runtime();
    let database = runtime.block_on(Options::default().connect()).expect("the database opens");
    let [slow, _, fixed] = variants(&database);
    let mut group = c.benchmark_group("sweep-query-per-row");
    for orders in [1, 3, 10, 30, 100, 300, 1000] {
        let path = format!("/orders?limit={orders}");
        let expected = runtime.block_on(slow.1.get(&path));
        for (variant, routes) in [&slow, &fixed] {
            group.bench_function(BenchmarkId::new(*variant, orders), |bencher| {
                bencher.to_async(&runtime).iter(async || {
                    assert_eq!(routes.get(&path).await, expected);
                });
            });
        }
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = query_per_row }
benches::each_alone!(benches);

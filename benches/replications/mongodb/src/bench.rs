//! The article's bench, but for the server's URL and the check: `cargo bench` with MONGODB_URL set.

mod driver;

use criterion::{Criterion, criterion_group, criterion_main};
use driver::{MANY, collection, find};

fn find_bench(c: &mut Criterion) {
    let url = std::env::var("MONGODB_URL").expect("MONGODB_URL says where the server is");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let many = runtime.block_on(collection(&url, MANY.0));
    c.bench_function("find", |b| {
        b.to_async(&runtime).iter(|| async {
            let documents = find(&many).await.expect("the server answers");
            assert_eq!(documents.len(), MANY.1);
        });
    });
}

criterion_group!(benches, find_bench);
criterion_main!(benches);

//! When does it matter where a password is hashed? The parameter is the memory of a hash in KiB, which
//! determines its time. Measured is a request for `/health` that comes right behind a login.

use benches::behind_login;
use blocked_worker::{Options, variants};
use criterion::{BenchmarkId, Criterion, criterion_group};

const MEMORY_KIB: [u32; 5] = [8, 64, 512, 4096, 19_456];

fn blocked_worker(c: &mut Criterion) {
    let mut group = c.benchmark_group("sweep-blocked-worker");
    for memory_kib in MEMORY_KIB {
        let cost = Options { memory_kib, passes: 2 };
        let [slow, .., fixed] = variants(cost).expect("this cost is valid");
        for (variant, routes) in [slow, fixed] {
            let id = BenchmarkId::new(variant, memory_kib);
            group.bench_function(id, |bencher| behind_login(bencher, &routes));
        }
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = blocked_worker }
benches::each_alone!(benches);

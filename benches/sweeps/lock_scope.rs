//! When does it matter that a guard is held across a wait? Over the length of the wait, and over how
//! many reads there are at once.
//!
//! `sweep-lock-scope`: 64 reads at once; the parameter is the downstream's wait in milliseconds.
//! `sweep-lock-scope-readers`: a wait of 1 ms; the parameter is the number of reads at once.

use std::{sync::Arc, time::Duration};

use benches::downstream::Downstream;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use tokio::{
    runtime::Runtime,
    sync::{Mutex, RwLock},
    task::JoinSet,
};

/// Milliseconds; the case itself has 50.
const WAITS_MS: [f64; 6] = [0.0, 0.1, 1.0, 5.0, 20.0, 50.0];
const READS: usize = 64;
const READS_AT_ONCE: [usize; 5] = [1, 2, 4, 16, 64];
/// A wait in milliseconds from which on an iteration of slow takes a third of a second and more.
const LONG_MS: f64 = 5.0;

/// The ids of the case's three clients; what guards them is all that matters here.
fn user_ids() -> Vec<u64> {
    vec![1, 2, 3]
}

#[expect(clippy::await_holding_invalid_type, reason = "the fault that is measured")]
async fn slow(clients: Arc<Mutex<Vec<u64>>>, downstream: Arc<Downstream>) -> u64 {
    let clients = clients.lock().await;
    let user_ids = clients.clone();
    downstream.answer().await;
    user_ids.iter().sum()
}

async fn fixed(clients: Arc<RwLock<Vec<u64>>>, downstream: Arc<Downstream>) -> u64 {
    let user_ids = clients.read().await.clone();
    downstream.answer().await;
    user_ids.iter().sum()
}

/// Makes `reads` reads at once.
async fn at_once<R>(reads: usize, read: impl Fn() -> R)
where
    R: Future<Output = u64> + Send + 'static,
{
    let mut answers = JoinSet::new();
    for _ in 0..reads {
        answers.spawn(read());
    }
    for answer in answers.join_all().await {
        assert_eq!(answer, 6);
    }
}

fn measure<P: std::fmt::Display>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    parameter: P,
    reads: usize,
    wait_ms: f64,
) {
    let downstream = Arc::new(Downstream::new(Duration::from_secs_f64(wait_ms / 1e3)));
    let mutex = Arc::new(Mutex::new(user_ids()));
    group.bench_function(BenchmarkId::new("slow", &parameter), |bencher| {
        let read = || slow(mutex.clone(), downstream.clone());
        bencher.to_async(runtime).iter(|| at_once(reads, read));
    });
    let rwlock = Arc::new(RwLock::new(user_ids()));
    group.bench_function(BenchmarkId::new("fixed", &parameter), |bencher| {
        let read = || fixed(rwlock.clone(), downstream.clone());
        bencher.to_async(runtime).iter(|| at_once(reads, read));
    });
}

fn lock_scope(c: &mut Criterion) {
    let runtime = benches::two_workers();
    let mut group = c.benchmark_group("sweep-lock-scope-readers");
    for reads in READS_AT_ONCE {
        measure(&mut group, &runtime, reads, reads, 1.0);
    }
    group.finish();

    let mut group = c.benchmark_group("sweep-lock-scope");
    for wait_ms in WAITS_MS {
        if wait_ms >= LONG_MS {
            // As few samples as Criterion allows: waits vary little, and one iteration is long.
            group.sample_size(10);
        }
        measure(&mut group, &runtime, wait_ms, READS, wait_ms);
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = lock_scope }
criterion_main!(benches);

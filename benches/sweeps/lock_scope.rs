//! When does a guard that is held across a wait matter? Measured over the length of the wait, and over
//! the number of concurrent reads.
//!
//! `sweep-lock-scope`: 64 reads at once; the parameter is the downstream's wait in milliseconds.
//! `sweep-lock-scope-readers`: a wait of 1 ms; the parameter is the number of reads at once.

use std::{sync::Arc, time::Duration};

use benches::downstream::Downstream;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, measurement::WallTime};
use tokio::{runtime::Runtime, sync::Mutex, task::JoinSet};

/// In milliseconds. The case itself has 50.
const WAITS_MS: [f64; 6] = [0.0, 0.1, 1.0, 5.0, 20.0, 50.0];
const READS: usize = 64;
const READS_AT_ONCE: [usize; 5] = [1, 2, 4, 16, 64];
/// From this wait on, in milliseconds, an iteration of `slow` takes a third of a second or more.
const LONG_MS: f64 = 5.0;

/// The ids of the case's three clients.
type UserIds = Arc<Mutex<Vec<u64>>>;

#[expect(clippy::await_holding_invalid_type, reason = "the fault that is measured")]
async fn slow(user_ids: UserIds, downstream: Arc<Downstream>) -> u64 {
    let guard = user_ids.lock().await;
    let user_ids = guard.clone();
    downstream.answer().await;
    user_ids.iter().sum()
}

async fn fixed(user_ids: UserIds, downstream: Arc<Downstream>) -> u64 {
    let user_ids = user_ids.lock().await.clone();
    downstream.answer().await;
    user_ids.iter().sum()
}

/// Runs `reads` reads concurrently.
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
    let user_ids = UserIds::new(Mutex::new(vec![1, 2, 3]));
    group.bench_function(BenchmarkId::new("slow", &parameter), |bencher| {
        let read = || slow(user_ids.clone(), downstream.clone());
        bencher.to_async(runtime).iter(|| at_once(reads, read));
    });
    group.bench_function(BenchmarkId::new("fixed", &parameter), |bencher| {
        let read = || fixed(user_ids.clone(), downstream.clone());
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
            // Criterion's minimum: waits vary little, and one iteration is long.
            group.sample_size(10);
        }
        measure(&mut group, &runtime, wait_ms, READS, wait_ms);
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = lock_scope }
benches::each_alone!(benches);

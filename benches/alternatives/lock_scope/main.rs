//! A lock that is held across a wait, a shared lock that is held, and seven alternatives.
//!
//! `alternatives-lock-scope`: 64 requests at once, each with a downstream of 1 ms; the 33rd is a write.
//! `alternatives-lock-only`: the same requests without a downstream. Each of 64 tasks sends its requests
//! one after another, so only the cost of the lock differs. A time is that of one request. Both benches
//! run on two threads.

mod clients;
mod dropped;
mod elsewhere;
mod held;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use benches::downstream::Downstream;
use criterion::{BenchmarkGroup, Criterion, criterion_group, measurement::WallTime};
use tokio::{runtime::Runtime, task::JoinSet};

use crate::clients::{Clients, check, read, write};

/// Requests at once, one of them a write: 1.6 %.
const REQUESTS: u64 = 64;

/// Measures every alternative in the same way.
trait Measure {
    fn measure<C: Clients>(&mut self, name: &str);
}

fn each_alternative(bench: &mut impl Measure) {
    bench.measure::<held::TokioMutex>("held");
    bench.measure::<held::TokioRwLock>("rwlock-held");
    bench.measure::<dropped::TokioMutex>("tokio-mutex");
    bench.measure::<dropped::TokioRwLock>("tokio-rwlock");
    bench.measure::<dropped::StdMutex>("std-mutex");
    bench.measure::<dropped::StdRwLock>("std-rwlock");
    bench.measure::<elsewhere::Sharded>("dashmap");
    bench.measure::<elsewhere::Swapped>("arc-swap");
    bench.measure::<elsewhere::Owned>("channel");
}

/// Concurrent requests, as in a service that waits for another service.
struct AtOnce<'a>(BenchmarkGroup<'a, WallTime>, Runtime, Arc<Downstream>);

impl Measure for AtOnce<'_> {
    fn measure<C: Clients>(&mut self, name: &str) {
        let Self(group, runtime, downstream) = self;
        let clients = check::<C>(runtime);
        group.bench_function(name, |bencher| {
            bencher.to_async(&*runtime).iter(|| at_once(&clients, downstream));
        });
    }
}

async fn at_once<C: Clients>(clients: &Arc<C>, downstream: &Arc<Downstream>) {
    let mut requests = JoinSet::new();
    for number in 0..REQUESTS {
        let (clients, downstream) = (clients.clone(), downstream.clone());
        requests.spawn(async move {
            if number == REQUESTS / 2 {
                write(&*clients).await
            } else {
                read(&*clients, &downstream).await
            }
        });
    }
    requests.join_all().await;
}

/// Requests that only wait for the lock.
struct LockOnly<'a>(BenchmarkGroup<'a, WallTime>, Runtime, Arc<Downstream>);

impl Measure for LockOnly<'_> {
    fn measure<C: Clients>(&mut self, name: &str) {
        let Self(group, runtime, none) = self;
        let clients = check::<C>(runtime);
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|requests| runtime.block_on(in_turn(&clients, none, requests)));
        });
    }
}

/// How long `requests` take. Tasks make whole rounds, which may be more, so the time is scaled down.
async fn in_turn<C: Clients>(clients: &Arc<C>, none: &Arc<Downstream>, requests: u64) -> Duration {
    let rounds = requests.div_ceil(REQUESTS * REQUESTS);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..REQUESTS {
        let (clients, none) = (clients.clone(), none.clone());
        tasks.spawn(async move {
            for _ in 0..rounds {
                write(&*clients).await;
                for _ in 1..REQUESTS {
                    read(&*clients, &none).await;
                }
            }
        });
    }
    tasks.join_all().await;
    start.elapsed().mul_f64(requests as f64 / (rounds * REQUESTS * REQUESTS) as f64)
}

fn lock_scope(c: &mut Criterion) {
    let downstream = Arc::new(Downstream::new(Duration::from_millis(1)));
    let group = c.benchmark_group("alternatives-lock-scope");
    each_alternative(&mut AtOnce(group, benches::two_workers(), downstream));

    let none = Arc::new(Downstream::new(Duration::ZERO));
    let group = c.benchmark_group("alternatives-lock-only");
    each_alternative(&mut LockOnly(group, benches::two_workers(), none));
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = lock_scope }
benches::each_alone!(benches);

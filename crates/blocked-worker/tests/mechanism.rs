//! On which threads passwords are hashed, and on how many at once. No clock decides: the counts are the
//! same on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    sync::{
        Arc, RwLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use axum::http::Request;
use blocked_worker::{Options, variants};
use case_server::InProcess;
use tokio::{runtime::Builder, task::JoinSet};

/// The memory of a hash, small enough for a quick test, and larger than everything else in a login.
const HASH: Options = Options { memory_kib: 1024, passes: 1 };
const LOGINS: u64 = 5;

async fn login(routes: InProcess) {
    let login = Request::post("/login").body(include_str!("../login.json")).unwrap();
    assert_eq!(routes.ask(login).await, (200, "welcome, ada\n".into()));
}

/// A hash allocates its memory on the thread that makes it, and the counter sees only its own thread:
/// the one that polls all tasks. So the bytes show how many hashes were made in polls.
#[test]
fn slow_hashes_in_the_poll_of_a_task_and_the_others_never() {
    for (variant, routes) in variants(HASH).unwrap() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let counted = allocation_counter::measure(|| {
            (0..LOGINS).for_each(|_| runtime.block_on(login(routes.clone())));
        });
        let hashes = counted.bytes_total / (u64::from(HASH.memory_kib) * 1024);
        assert_eq!(hashes, if variant == "slow" { LOGINS } else { 0 }, "{variant}");
    }
}

/// The threads of the pool are kept from working until all logins of a burst have been polled. So each
/// thread has one login, and there are as many threads as hashes that can run at once.
#[test]
fn a_burst_hashes_on_as_many_threads_as_there_are_permits_or_logins() {
    let cores = thread::available_parallelism().unwrap().get();
    let burst = cores + 30;
    for (variant, routes) in variants(HASH).unwrap() {
        let (gate, threads) = (Arc::new(RwLock::new(())), Arc::new(AtomicUsize::new(0)));
        let (wait, count) = (gate.clone(), threads.clone());
        let start = move || {
            count.fetch_add(1, SeqCst);
            drop(wait.read());
        };
        let runtime = Builder::new_current_thread().on_thread_start(start).build().unwrap();
        let closed = gate.write().unwrap();
        runtime.block_on(async {
            let mut logins = JoinSet::new();
            (0..burst).for_each(|_| drop(logins.spawn(login(routes.clone()))));
            // Runs after all of them have been polled.
            tokio::spawn(async {}).await.unwrap();
            let expected = match variant {
                "slow" => 0,
                "unbounded" => burst,
                "all-cores" => cores,
                // One core stays free for those who serve.
                _ => (cores - 1).max(1),
            };
            while threads.load(SeqCst) < expected {
                thread::yield_now();
            }
            // More than expected would come now.
            thread::sleep(Duration::from_millis(50));
            assert_eq!(threads.load(SeqCst), expected, "{variant}");
            drop(closed);
            logins.join_all().await;
        });
    }
}

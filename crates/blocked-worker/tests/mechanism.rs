//! What the fault costs, counted exactly: never a time on the clock.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use blocked_worker::variants;
use case_server::InProcess;

/// The allocations of one request. A current-thread runtime keeps them all on the counted thread.
fn allocations(routes: &InProcess) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ask = || assert_eq!(runtime.block_on(routes.get("/answer")).0, 200);
    // The first request also pays for what is set up once.
    ask();
    allocation_counter::measure(ask).count_total
}

#[test]
fn slow_allocates_more_than_fixed() {
    let [slow, fixed] = variants().map(|(_, routes)| allocations(&routes));
    // TODO: assert the exact difference, or count something else that explains the fault.
    assert!(slow > fixed, "slow {slow}, fixed {fixed}");
}

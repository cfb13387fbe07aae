//! How many allocations a request makes. The count is exact on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use case_server::InProcess;
use hot_clone::variants;

/// Counts the allocations of one request for `rounds` rounds, including those of the framework.
///
/// The counter sees only its own thread, so all the work runs on a current-thread runtime.
fn allocations(routes: &InProcess, rounds: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let path = format!("/cpu?rounds={rounds}");
    let ask = || assert_eq!(runtime.block_on(routes.get(&path)).0, 200);
    // The first request isn't counted: it also sets up what later requests reuse.
    ask();
    allocation_counter::measure(ask).count_total
}

#[test]
fn slow_allocates_three_times_a_round_and_fixed_never() {
    let [(_, slow), (_, fixed)] = variants();
    let [slow_1000, slow_2000] = [1000, 2000].map(|rounds| allocations(&slow, rounds));
    let [fixed_1000, fixed_2000] = [1000, 2000].map(|rounds| allocations(&fixed, rounds));

    assert_eq!(slow_2000 - slow_1000, 3 * 1000, "one for each of the three ids");
    assert_eq!(fixed_2000, fixed_1000, "the rounds allocate nothing");
    assert_eq!(slow_1000 - fixed_1000, 3 * 1000, "the clones are the only difference");
}

//! How many allocations a request makes: exact, on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use case_server::InProcess;
use hot_clone::variants;

/// The allocations of one request for `rounds` rounds, from the framework to the answer.
///
/// The counter sees one thread, and a current-thread runtime does all the work on it.
fn allocations(routes: &InProcess, rounds: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let path = format!("/cpu?rounds={rounds}");
    let ask = || assert_eq!(runtime.block_on(routes.get(&path)).0, 200);
    // The first request also sets up what later requests reuse.
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

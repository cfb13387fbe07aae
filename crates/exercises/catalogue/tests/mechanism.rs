//! How many allocations a product costs. The count is exact on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use case_server::InProcess;
use catalogue::variants;

/// Counts the allocations of one request, including those of the framework.
///
/// The counter sees only its own thread, so all the work runs on a current-thread runtime.
fn allocations(routes: &InProcess, products: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let path = format!("/feed?rate=190&most={products}");
    let ask = || assert_eq!(runtime.block_on(routes.get(&path)).0, 200);
    // The first request isn't counted: it also sets up what later requests reuse.
    ask();
    allocation_counter::measure(ask).count_total
}

#[test]
fn a_product_is_made_into_two_trees_or_into_text() {
    let [slow, fixed] = variants().map(|(_, routes)| {
        let [once, twice] = [256, 512].map(|products| allocations(&routes, products));
        // What is left over is for buffers that grow once more.
        (twice - once) / 256
    });
    assert_eq!(slow, 13 + 13, "a tree with the address, and a copy of it");
    assert_eq!(fixed, 1, "the address");
}

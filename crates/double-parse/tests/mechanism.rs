//! How many allocations a document costs: exact, on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod variants;

use double_parse::{Summarise, batch::find_reply};
use variants::VARIANTS;

/// The allocations of one reply with `documents` documents, from its bytes to the summary.
fn allocations(summarise: Summarise, documents: u32) -> u64 {
    let reply = find_reply(documents);
    // What the first reply sets up once and for all is not the price of a reply.
    summarise(&reply).unwrap();
    allocation_counter::measure(|| drop(summarise(&reply).unwrap())).count_total
}

#[test]
fn every_step_allocates_less_for_a_document() {
    for (variant, summarise) in VARIANTS {
        let per_document = match variant {
            // The clone alone: 4 names, 2 texts, and a hash map of 2 parts to hold them.
            "slow" => 19 + 8,
            "no-clone" => 19,
            // The 2 texts.
            "fixed" => 2,
            // Nothing at all: its texts lie in the reply.
            _ => 0,
        };
        // Twice the documents also make the one vector that holds them all grow once more.
        let [once, twice] = [1000, 2000].map(|documents| allocations(summarise, documents));
        assert_eq!(twice - once, per_document * 1000 + 1, "{variant}");
    }
}

#[test]
fn every_step_allocates_less_for_the_case_itself() {
    let total = VARIANTS.map(|(_, summarise)| allocations(summarise, 10_000));
    assert!(total.is_sorted_by(|before, after| before > after), "{total:?}");
}

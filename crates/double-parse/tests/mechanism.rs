//! How many allocations a document costs, and in which pass. The numbers are exact on any machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use double_parse::{Summarise, VARIANTS, batch::find_reply};

/// The allocations of 1,000 documents: those of a reply with 2,000, minus those of a reply with 1,000.
/// They include one for the vector of all documents, which grows once more.
fn allocations(summarise: Summarise, reply: fn(u32) -> Vec<u8>, accepted: bool) -> u64 {
    let [once, twice] = [1000, 2000].map(|documents| {
        let reply = reply(documents);
        // The first call also sets up what later calls reuse.
        assert_eq!(summarise(&reply).is_ok(), accepted);
        allocation_counter::measure(|| drop(summarise(&reply))).count_total
    });
    twice - once
}

/// A reply whose last document is garbage, including its length.
fn broken_at_the_end(documents: u32) -> Vec<u8> {
    let mut reply = find_reply(documents);
    let id = reply.windows(4).rposition(|bytes| bytes == b"_id\0").unwrap();
    reply[id - 5..][..80].fill(0xFF);
    reply
}

/// The first pass over the bytes finds the garbage in the last document, after its work for all others.
/// A variant that has then done all of its work has only one pass.
#[test]
fn every_step_allocates_less_and_fixed_goes_over_the_bytes_once() {
    for (variant, summarise) in VARIANTS {
        // For each document: in the first pass, and later.
        let (first, later) = match variant {
            // The document, its clone, and what taking the clone apart needs.
            "slow" => (11, 8 + 8),
            "no-clone" => (11, 8),
            // The two texts.
            "fixed" => (2, 0),
            // The texts stay in the reply.
            _ => (0, 0),
        };
        let all = allocations(summarise, find_reply, true);
        assert_eq!(all, (first + later) * 1000 + 1, "{variant}");
        let of_the_first_pass = allocations(summarise, broken_at_the_end, false);
        assert_eq!(of_the_first_pass, first * 1000 + 1, "{variant}");
    }
}

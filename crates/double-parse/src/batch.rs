//! Makes what a database answers to a find. A driver has such bytes after it has read its socket.

use bson::{RawArrayBuf, oid::ObjectId, rawdoc};

/// When the first document was made, in seconds since 1970.
const FIRST_MADE: u32 = 1_600_000_000;

/// The raw BSON of a reply with `documents` documents of 80 bytes each, the same on every machine.
///
/// Each document starts with its `_id`, as a database writes it. The ids are one second apart.
pub fn find_reply(documents: u32) -> Vec<u8> {
    other_reply(documents, 0)
}

/// A reply like [`find_reply`], with other ids and numbers; `seed` decides which.
pub fn other_reply(documents: u32, seed: u32) -> Vec<u8> {
    let mut batch = RawArrayBuf::new();
    for nth in 0..documents {
        let number = nth + nth.wrapping_mul(seed).rotate_left(7) % 1_000_000;
        let [_, counter @ ..] = number.to_be_bytes();
        let maker = [0x5b, 0x1e, 0xc7, 0x0d, 0x0a];
        batch.push(rawdoc! {
            "_id": ObjectId::from_parts(FIRST_MADE + number, maker, counter),
            "hello": "world",
            "anotherKey": "anotherValue",
            "number": number as i32,
        });
    }
    let cursor = rawdoc! { "firstBatch": batch, "id": 0_i64, "ns": "foo.bar" };
    rawdoc! { "cursor": cursor, "ok": 1.0 }.into_bytes()
}

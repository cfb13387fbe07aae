//! Makes the body of the case's request: what a database answers to a find.

use bson::{oid::ObjectId, rawdoc};

/// When the first document was made, in seconds since 1970.
const FIRST_MADE: u32 = 1_600_000_000;

/// The raw BSON of a reply with `documents` documents of 80 bytes each, the same on every machine.
///
/// Each starts with its `_id`, as a database writes it. The ids are one second apart. The numbers run
/// from 0 to 9,999 and start again.
pub fn find_reply(documents: u32) -> Vec<u8> {
    let mut batch = bson::RawArrayBuf::new();
    for number in 0..documents {
        batch.push(rawdoc! {
            "_id": id(number),
            "hello": "world",
            "anotherKey": "anotherValue",
            "number": (number % 10_000) as i32,
        });
    }
    let reply = rawdoc! {
        "cursor": { "firstBatch": batch, "id": 0_i64, "ns": "foo.bar" },
        "ok": 1.0,
    };
    reply.into_bytes()
}

/// An id as a database makes it: a time, five bytes for its maker, and a counter.
fn id(number: u32) -> ObjectId {
    let [a, b, c, d] = (FIRST_MADE + number).to_be_bytes();
    let [_, x, y, z] = number.to_be_bytes();
    ObjectId::from_bytes([a, b, c, d, 0x5b, 0x1e, 0xc7, 0x0d, 0x0a, x, y, z])
}

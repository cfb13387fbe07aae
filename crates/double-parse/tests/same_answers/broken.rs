//! Damaged and hostile bytes: no variant panics.

use bson::{RawArrayBuf, RawDocumentBuf, cstr, oid::ObjectId, raw::RawBson, rawdoc};
use double_parse::{LARGEST_BODY, NotAFindReply, batch::find_reply};

use crate::all_answer;

#[test]
fn a_reply_cut_off_anywhere_is_refused() {
    let reply = find_reply(2);
    for length in 0..reply.len() {
        assert_eq!(all_answer(&reply[..length]), Err(NotAFindReply), "{length}");
    }
}

#[test]
fn bytes_behind_the_reply_are_refused() {
    let mut reply = find_reply(2);
    reply.push(0);
    assert_eq!(all_answer(&reply), Err(NotAFindReply));
}

#[test]
fn any_byte_replaced_by_any_other_makes_no_difference_between_variants() {
    let mut reply = find_reply(2);
    for at in 0..reply.len() {
        let original = reply[at];
        for byte in 0..=u8::MAX {
            reply[at] = byte;
            let _ = all_answer(&reply);
        }
        reply[at] = original;
    }
}

#[test]
fn any_byte_removed_or_doubled_makes_no_difference_between_variants() {
    let reply = find_reply(2);
    for at in 0..reply.len() {
        let mut longer = reply.clone();
        longer.insert(at, reply[at]);
        let mut shorter = reply.clone();
        shorter.remove(at);
        for mut changed in [longer, shorter] {
            let _ = all_answer(&changed);
            // With the right length in front, parsing finds the damage later.
            let length = u32::try_from(changed.len()).unwrap();
            changed.splice(..4, length.to_le_bytes());
            let _ = all_answer(&changed);
        }
    }
}

/// Of two fields with one name, a document keeps the last and a struct refuses both.
#[test]
fn a_field_that_is_there_twice_is_refused_on_every_level() {
    let item = rawdoc! {
        "_id": ObjectId::new(), "hello": "world", "anotherKey": "anotherValue", "number": 1
    };
    let cursor = |item: &RawDocumentBuf| {
        let batch: RawArrayBuf = [item.clone()].into_iter().collect();
        rawdoc! { "firstBatch": batch, "id": 0_i64, "ns": "foo.bar" }
    };
    let good = rawdoc! { "cursor": cursor(&item), "ok": 1.0 };
    assert!(all_answer(good.as_bytes()).is_ok());

    let mut two_numbers = item.clone();
    two_numbers.append(cstr!("number"), 1);
    let in_item = rawdoc! { "cursor": cursor(&two_numbers), "ok": 1.0 };

    let mut two_names = cursor(&item);
    two_names.append(cstr!("ns"), "foo.bar");
    let in_cursor = rawdoc! { "cursor": two_names, "ok": 1.0 };

    let mut in_reply = good.clone();
    in_reply.append(cstr!("ok"), 1.0);

    for reply in [in_item, in_cursor, in_reply] {
        assert_eq!(all_answer(reply.as_bytes()), Err(NotAFindReply), "{reply:?}");
    }
}

/// Documents or arrays inside each other, as deep as the largest body can hold.
fn nested(kind: u8) -> Vec<u8> {
    const EMPTY: usize = 5;
    const AROUND: usize = 8;
    let depth = (LARGEST_BODY - EMPTY) / AROUND;
    let mut bytes = Vec::with_capacity(LARGEST_BODY);
    for inner in (0..depth).rev() {
        let length = u32::try_from(EMPTY + (inner + 1) * AROUND).unwrap();
        bytes.extend(length.to_le_bytes());
        bytes.extend([kind, b'0', 0]);
    }
    bytes.extend([5, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + depth, 0);
    bytes
}

/// Recursive decoding of these would overflow the stack and end the process.
#[test]
fn the_deepest_nesting_that_fits_is_refused() {
    const DOCUMENT: u8 = 3;
    const ARRAY: u8 = 4;
    for deep in [DOCUMENT, ARRAY].map(nested) {
        assert_eq!(all_answer(&deep), Err(NotAFindReply));

        let deep = RawDocumentBuf::from_bytes(deep).unwrap();
        let item = rawdoc! { "_id": ObjectId::new(), "hello": deep.clone() };
        let batch: RawArrayBuf = [item].into_iter().collect();
        let cursor = rawdoc! { "firstBatch": batch, "id": 0_i64, "ns": "foo.bar" };
        let in_item = rawdoc! { "cursor": cursor, "ok": 1.0 };
        assert_eq!(all_answer(in_item.as_bytes()), Err(NotAFindReply));

        let in_unknown_field = rawdoc! { "unknown": deep, "ok": 1.0 };
        assert_eq!(all_answer(in_unknown_field.as_bytes()), Err(NotAFindReply));
    }
}

#[test]
fn a_batch_of_too_many_tiny_elements_is_refused() {
    let tiny: RawArrayBuf = std::iter::repeat_n(RawBson::Int32(0), 300_000).collect();
    let cursor = rawdoc! { "firstBatch": tiny, "id": 0_i64, "ns": "foo.bar" };
    let reply = rawdoc! { "cursor": cursor, "ok": 1.0 };
    assert!(reply.as_bytes().len() < LARGEST_BODY);
    assert_eq!(all_answer(reply.as_bytes()), Err(NotAFindReply));
}

#[test]
fn lengths_that_are_not_those_of_the_bytes_are_refused() {
    for length in [0, 4, 5, i32::MAX, -1, i32::MIN] {
        let mut reply = find_reply(1);
        reply[..4].copy_from_slice(&length.to_le_bytes());
        assert_eq!(all_answer(&reply), Err(NotAFindReply), "{length}");
    }
    for bytes in [&b""[..], b"\0", b"\x04\0\0\0", b"\x05\0\0\0\0", b"\x05\0\0\0\x01", b"text"] {
        assert_eq!(all_answer(bytes), Err(NotAFindReply), "{bytes:?}");
    }
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    for text in ["world", "anotherValue", "foo.bar", "hello", "firstBatch"] {
        let mut reply = find_reply(1);
        let at = reply.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
        reply[at] = 0xFF;
        assert_eq!(all_answer(&reply), Err(NotAFindReply), "{text}");
    }
}

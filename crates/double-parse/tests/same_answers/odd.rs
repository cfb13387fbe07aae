//! Whole documents with usual and unusual values.

use bson::{Binary, Bson, Document, doc, oid::ObjectId, spec::BinarySubtype};
use double_parse::{batch::find_reply, reply::Summary};

use crate::all_answer;

/// Whether all variants accept a reply of two documents, the second of which is `item`.
fn all_take(item: Document) -> bool {
    all_take_cursor(doc! { "firstBatch": [good_item(), item], "id": 0_i64, "ns": "foo.bar" })
}

fn all_take_cursor(cursor: impl Into<Bson>) -> bool {
    all_take_reply(doc! { "cursor": cursor, "ok": 1.0 })
}

fn all_take_reply(reply: Document) -> bool {
    all_answer(&reply.to_vec().unwrap()).is_ok()
}

fn good_item() -> Document {
    doc! { "_id": ObjectId::new(), "hello": "world", "anotherKey": "anotherValue", "number": 1 }
}

/// A good item, except for the value of one field.
fn with(field: &str, value: impl Into<Bson>) -> Document {
    let mut item = good_item();
    item.insert(field, value);
    item
}

#[test]
fn the_summary_is_exact() {
    let summary = all_answer(&find_reply(10_000)).unwrap();
    let expected = Summary {
        namespace: "foo.bar".to_owned(),
        documents: 10_000,
        complete: true,
        number: 49_995_000,
        text_bytes: 170_000,
        oldest: Some(1_600_000_000),
        newest: Some(1_600_009_999),
    };
    assert_eq!(summary, expected);

    let empty = all_answer(&find_reply(0)).unwrap();
    assert_eq!((empty.documents, empty.number, empty.oldest, empty.newest), (0, 0, None, None));
}

#[test]
fn numbers_of_other_types_are_accepted_only_if_nothing_is_lost() {
    assert!(all_take(with("number", -1)));
    assert!(all_take(with("number", 1_i64)));
    assert!(!all_take(with("number", i64::from(i32::MAX) + 1)));
    for number in [Bson::Double(1.0), "1".into(), true.into(), Bson::Null] {
        assert!(!all_take(with("number", number.clone())), "{number}");
    }
    for (ok, taken) in [
        (Bson::Int32(1), true),
        (Bson::Int64(1), true),
        (Bson::Double(0.0), false),
        (Bson::Double(f64::NAN), false),
        ("1".into(), false),
        (true.into(), false),
    ] {
        let cursor = doc! { "firstBatch": [], "id": 0_i64, "ns": "foo.bar" };
        assert_eq!(all_take_reply(doc! { "cursor": cursor, "ok": ok.clone() }), taken, "{ok}");
    }
}

#[test]
fn values_that_only_resemble_text_are_refused() {
    let generic = Binary { subtype: BinarySubtype::Generic, bytes: b"world".to_vec() };
    let old = Binary { subtype: BinarySubtype::BinaryOld, bytes: b"world".to_vec() };
    for text in [
        Bson::Symbol("world".to_owned()),
        Bson::JavaScriptCode("world".to_owned()),
        Bson::Binary(generic),
        Bson::Binary(old),
        Bson::ObjectId(ObjectId::new()),
        Bson::Null,
        Bson::Undefined,
        Bson::MinKey,
        Bson::DateTime(bson::DateTime::now()),
        Bson::Document(doc! { "$symbol": "world" }),
        Bson::Array(vec!["world".into()]),
    ] {
        assert!(!all_take(with("hello", text.clone())), "{text}");
    }
    assert!(all_take(with("hello", "")));
    assert!(all_take(with("hello", "\0\u{10FFFF}")));
}

#[test]
fn ids_are_object_ids_or_their_digits() {
    assert!(all_take(with("_id", ObjectId::new().to_hex())));
    for id in [
        Bson::String("5b1ec70d".to_owned()),
        Bson::Document(doc! { "$oid": ObjectId::new().to_hex() }),
        Bson::Document(doc! { "$oid": ObjectId::new() }),
        Bson::Int32(1),
    ] {
        assert!(!all_take(with("_id", id.clone())), "{id}");
    }
}

#[test]
fn fields_may_come_in_any_order_but_all_must_come_once() {
    let mut reordered = doc! { "number": 1, "anotherKey": "anotherValue" };
    reordered.extend(good_item());
    assert!(all_take(reordered));
    assert!(!all_take(with("unknown", 1)));
    for field in ["_id", "hello", "anotherKey", "number"] {
        let mut item = good_item();
        item.remove(field);
        assert!(!all_take(item.clone()), "{field} missing");
        item.insert("unknown", 1);
        assert!(!all_take(item), "{field} under another name");
    }
    assert!(!all_take_cursor(doc! { "firstBatch": [], "id": 0_i64 }));
    assert!(!all_take_cursor(doc! { "firstBatch": {}, "id": 0_i64, "ns": "foo.bar" }));
    assert!(!all_take_reply(doc! {}));
    // An array instead of a document gives the values in order. All variants accept that.
    assert!(all_take_cursor(Bson::Array(vec![
        Bson::Array(vec![]),
        0_i64.into(),
        "foo.bar".into()
    ])));
}

//! Ways from the bytes of 10,000 documents to one summary, without a server around them.
//!
//! The first four are the case's own variants. `raw` builds no values: it looks fields up in the bytes.
//! The last two are the same fault and the same fix with JSON, where the fault is a
//! `serde_json::Value`. In `alternatives-double-parse-one-field` the caller needs only one number of
//! each document.

use anyhow::Context as _;
use bson::{RawDocument, oid::ObjectId};
use criterion::{Criterion, Throughput, criterion_group};
use double_parse::{
    batch, fixed,
    reply::{FindReply, Summary},
    slow,
    steps::{borrowed, no_clone},
};
use serde::Deserialize;

const DOCUMENTS: u32 = 10_000;

/// Looks up every field that the summary needs, and copies none of them.
fn raw(bytes: &[u8]) -> anyhow::Result<Summary> {
    let reply = RawDocument::from_bytes(bytes)?;
    let cursor = reply.get_document("cursor")?;
    let mut summary = Summary {
        namespace: cursor.get_str("ns")?.to_owned(),
        documents: 0,
        complete: reply.get_f64("ok")? == 1.0 && cursor.get_i64("id")? == 0,
        number: 0,
        text_bytes: 0,
        oldest: None,
        newest: None,
    };
    for item in cursor.get_array("firstBatch")? {
        let item = item?.as_document().context("not a document")?;
        summary.documents += 1;
        summary.number += i64::from(item.get_i32("number")?);
        summary.text_bytes += item.get_str("hello")?.len() + item.get_str("anotherKey")?.len();
        let made = seconds(item.get_object_id("_id")?);
        summary.oldest = Some(summary.oldest.map_or(made, |oldest| oldest.min(made)));
        summary.newest = summary.newest.max(Some(made));
    }
    Ok(summary)
}

fn seconds(id: ObjectId) -> i64 {
    id.timestamp().timestamp_millis() / 1000
}

fn json_value(bytes: &[u8]) -> anyhow::Result<Summary> {
    let value: serde_json::Value = serde_json::from_slice(bytes)?;
    let reply: FindReply<String> = serde_json::from_value(value)?;
    Ok(reply.summary())
}

fn json_struct(bytes: &[u8]) -> anyhow::Result<Summary> {
    let reply: FindReply<String> = serde_json::from_slice(bytes)?;
    Ok(reply.summary())
}

/// The part of a reply that a caller declares if it needs only the numbers.
#[derive(Deserialize)]
struct Numbers {
    cursor: NumbersCursor,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NumbersCursor {
    first_batch: Vec<Number>,
}

#[derive(Deserialize)]
struct Number {
    number: i32,
}

fn numbers_struct(bytes: &[u8]) -> anyhow::Result<i64> {
    let numbers: Numbers = bson::deserialize_from_slice(bytes)?;
    Ok(numbers.cursor.first_batch.iter().map(|item| i64::from(item.number)).sum())
}

fn numbers_document(bytes: &[u8]) -> anyhow::Result<i64> {
    let reply = bson::Document::from_reader(bytes)?;
    let mut sum = 0;
    for item in reply.get_document("cursor")?.get_array("firstBatch")? {
        sum += i64::from(item.as_document().context("not a document")?.get_i32("number")?);
    }
    Ok(sum)
}

fn numbers_raw(bytes: &[u8]) -> anyhow::Result<i64> {
    let mut sum = 0;
    for item in RawDocument::from_bytes(bytes)?.get_document("cursor")?.get_array("firstBatch")? {
        sum += i64::from(item?.as_document().context("not a document")?.get_i32("number")?);
    }
    Ok(sum)
}

fn double_parse(c: &mut Criterion) {
    let reply = batch::find_reply(DOCUMENTS);
    let document = bson::Document::from_reader(&*reply).expect("the reply is a document");
    let json = serde_json::to_vec(&document).expect("a document can be written as JSON");
    let summary = fixed::summarise(&reply).expect("the reply is a find's");

    let mut group = c.benchmark_group("alternatives-double-parse");
    group.throughput(Throughput::Elements(DOCUMENTS.into()));
    let mut bench = |name: &str, summarise: &dyn Fn() -> Option<Summary>| {
        assert_eq!(summarise().as_ref(), Some(&summary), "{name}");
        group.bench_function(name, |bencher| bencher.iter(summarise));
    };
    bench("document-clone-struct", &|| slow::summarise(&reply).ok());
    bench("document-struct", &|| no_clone::summarise(&reply).ok());
    bench("struct", &|| fixed::summarise(&reply).ok());
    bench("borrowed-struct", &|| borrowed::summarise(&reply).ok());
    bench("raw", &|| raw(&reply).ok());
    bench("json-value-struct", &|| json_value(&json).ok());
    bench("json-struct", &|| json_struct(&json).ok());
    group.finish();

    let mut group = c.benchmark_group("alternatives-double-parse-one-field");
    group.throughput(Throughput::Elements(DOCUMENTS.into()));
    let mut bench = |name: &str, add_up: &dyn Fn() -> Option<i64>| {
        assert_eq!(add_up(), Some(summary.number), "{name}");
        group.bench_function(name, |bencher| bencher.iter(add_up));
    };
    bench("document", &|| numbers_document(&reply).ok());
    bench("whole-struct", &|| fixed::summarise(&reply).ok().map(|summary| summary.number));
    bench("struct", &|| numbers_struct(&reply).ok());
    bench("raw", &|| numbers_raw(&reply).ok());
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = double_parse }
benches::each_alone!(benches);

//! The struct that the service wants, and its summary.

use bson::oid::ObjectId;
use serde::{Deserialize, Serialize};

/// What a database answers to a find whose documents fit into one batch.
///
/// `S` is the type of its strings: `String` copies them, `&str` points into the reply.
#[derive(Clone, Debug, Deserialize)]
pub struct FindReply<S> {
    cursor: Cursor<S>,
    ok: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cursor<S> {
    first_batch: Vec<Item<S>>,
    id: i64,
    ns: S,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<S> {
    #[serde(rename = "_id")]
    id: ObjectId,
    hello: S,
    another_key: S,
    number: i32,
}

/// What the service answers. It uses every field of the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The database and the collection that were searched.
    pub namespace: String,
    pub documents: usize,
    /// Whether the find succeeded, and the batch holds all that was found.
    pub complete: bool,
    /// The sum of all numbers.
    pub number: i64,
    /// The length of all texts, in bytes.
    pub text_bytes: usize,
    /// When the first document was made, in seconds since 1970, by its id.
    pub oldest: Option<i64>,
    /// When the last document was made, in seconds since 1970, by its id.
    pub newest: Option<i64>,
}

impl<S: AsRef<str>> FindReply<S> {
    /// Sums up the batch.
    pub fn summary(&self) -> Summary {
        let items = &self.cursor.first_batch;
        let text_bytes =
            |item: &Item<S>| item.hello.as_ref().len() + item.another_key.as_ref().len();
        let made = || items.iter().map(|item| item.id.timestamp().timestamp_millis() / 1000);
        Summary {
            namespace: self.cursor.ns.as_ref().to_owned(),
            documents: items.len(),
            complete: self.ok == 1.0 && self.cursor.id == 0,
            number: items.iter().map(|item| i64::from(item.number)).sum(),
            text_bytes: items.iter().map(text_bytes).sum(),
            oldest: made().min(),
            newest: made().max(),
        }
    }
}

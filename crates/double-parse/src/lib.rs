//! A service that sums up the reply of a database to a find.
//!
//! There is no database: the server holds the bytes of replies, as a driver does after it has read its
//! socket. Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. The diff makes two changes at once:
//! [`steps::no_clone`] makes only the first, and [`steps::borrowed`] goes beyond the fix. All variants
//! share this file.

pub mod batch;
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod reply;
#[expect(clippy::disallowed_methods, reason = "the fault that this case is about")]
pub mod slow;
pub mod steps {
    //! Single changes, each measured alone.

    pub mod borrowed;
    pub mod no_clone;
}

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, Router, extract::Query, http::StatusCode, routing::get};
use serde::Deserialize;

use crate::reply::Summary;

/// How many documents a reply has: the server holds one reply of each size.
pub const SIZES: [u32; 5] = [1, 10, 100, 1000, 10_000];

/// A variant: its way from the bytes of a reply to the summary.
pub type Summarise = fn(&[u8]) -> Result<Summary, bson::error::Error>;

/// Every variant by name, for tests and benches.
pub const VARIANTS: [(&str, Summarise); 4] = [
    ("slow", slow::summarise),
    ("no-clone", steps::no_clone::summarise),
    ("fixed", fixed::summarise),
    ("borrowed", steps::borrowed::summarise),
];

#[derive(Deserialize)]
struct Find {
    documents: u32,
    /// Another reply of this size, made for the request.
    #[serde(default)]
    seed: u32,
    /// How many bytes of the reply are lost, as if the connection broke.
    #[serde(default)]
    cut: usize,
}

/// `GET /summary?documents=N`, and with `&seed=S` for a reply that the server does not hold. With `&cut=N`, the
/// last bytes of the reply are lost.
///
/// The handler blocks its Tokio worker for the milliseconds that parsing takes, in every variant.
pub fn routes(summarise: Summarise) -> Router {
    let replies = Arc::new(BTreeMap::from(SIZES.map(|size| (size, batch::find_reply(size)))));
    let answer = async move |Query(find): Query<Find>| {
        let held = replies
            .get(&find.documents)
            .ok_or((StatusCode::BAD_REQUEST, "documents has to be 1, 10, 100, 1000 or 10000\n"))?;
        let other = (find.seed > 0).then(|| batch::other_reply(find.documents, find.seed));
        let reply = other.as_ref().unwrap_or(held);
        summarise(&reply[..reply.len().saturating_sub(find.cut)])
            .map(Json)
            .map_err(|_| (StatusCode::BAD_GATEWAY, "the database's reply cannot be read\n"))
    };
    Router::new().route("/summary", get(answer))
}

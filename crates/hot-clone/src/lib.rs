//! A service that adds up the ids of its subscribers, as many times as a request asks for.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. Both variants share this file.
//!
//! Both handlers also block their Tokio worker while they compute. This case leaves that as it is:
//! `spawn_blocking` makes no work cheaper.

pub mod fixed;
pub mod slow;

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use case_server::InProcess;
use serde::{Deserialize, Deserializer, de::Error as _};
use warp::{Filter, Rejection, Reply, http::StatusCode, reject::InvalidQuery};

/// Limits the CPU time that one request can use. It also keeps the sum far below the largest `u64`.
const MOST_ROUNDS: u64 = 5_000_000;

/// One subscriber, as the service keeps it in memory.
#[derive(Clone, Debug)]
pub struct Client {
    /// Every round adds up the ids of all clients.
    pub user_id: u32,
}

/// Clients by name. Requests only read this shared map, so it needs no lock.
pub type Clients = Arc<HashMap<String, Client>>;

/// The three clients that every variant starts with.
fn first_clients() -> Clients {
    let clients = [("87-89-34", 1), ("22-38-21", 2), ("12-67-22", 3)]
        .map(|(name, user_id)| (name.to_owned(), Client { user_id }));
    Arc::new(clients.into())
}

/// The ids as text, as if they came from a file or a header. Parsing them is the real work.
fn user_ids(clients: &Clients) -> Vec<String> {
    clients.values().map(|client| client.user_id.to_string()).collect()
}

#[derive(Deserialize)]
struct Query {
    #[serde(default, deserialize_with = "within_bounds")]
    rounds: Option<u64>,
}

fn within_bounds<'de, D: Deserializer<'de>>(rounds: D) -> Result<Option<u64>, D::Error> {
    match u64::deserialize(rounds)? {
        rounds @ 1..=MOST_ROUNDS => Ok(Some(rounds)),
        _ => Err(D::Error::custom("out of bounds")),
    }
}

/// `GET /cpu?rounds=N`, or a million rounds without `?rounds=N`.
fn cpu_route() -> impl Filter<Extract = (u64,), Error = Rejection> + Copy {
    let rounds = warp::query().map(|query: Query| query.rounds.unwrap_or(1_000_000));
    warp::path!("cpu").and(warp::get()).and(rounds)
}

/// Answers a bad number of rounds with the allowed range, and any other rejection as all cases do.
async fn explain(rejection: Rejection) -> Result<impl Reply, Infallible> {
    if rejection.find::<InvalidQuery>().is_some() {
        let message = format!("rounds has to be a whole number from 1 to {MOST_ROUNDS}\n");
        return Ok(warp::reply::with_status(message, StatusCode::BAD_REQUEST).into_response());
    }
    case_server::explain(rejection).await.map(Reply::into_response)
}

/// All variants by name, for tests and benches that use no socket.
pub fn variants() -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(warp::service(slow::routes()))),
        ("fixed", InProcess::new(warp::service(fixed::routes()))),
    ]
}

/// Passes a clone of `value` to a handler.
fn with<T: Clone + Send>(value: T) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}

//! A service that adds up the ids of its subscribers, as many times as a request asks for.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. Both variants share this file.
//!
//! Both handlers also block their Tokio worker while they compute. This case leaves that as it is:
//! `spawn_blocking` makes no work cheaper.

pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
#[expect(clippy::redundant_iter_cloned, reason = "the fault that this case is about")]
pub mod slow;

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use case_server::InProcess;
use serde::Deserialize;
use warp::{Filter, Rejection};

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

/// More rounds are not made: a request must not hold a worker for minutes.
const MOST_ROUNDS: u32 = 5_000_000;

#[derive(Deserialize)]
struct Query {
    rounds: u32,
}

/// `GET /cpu?rounds=N`.
fn cpu_route() -> impl Filter<Extract = (u64,), Error = Rejection> + Copy {
    let rounds = warp::query().map(|query: Query| query.rounds.min(MOST_ROUNDS).into());
    warp::path!("cpu").and(warp::get()).and(rounds)
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

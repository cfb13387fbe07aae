//! A service that keeps subscribers in memory, and asks another service before it answers a read.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. [`steps::rwlock_held`] is a change that
//! looks as good under this case's load, but `tests/mechanism.rs` shows that it isn't. All variants
//! share this file.

pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
#[expect(clippy::await_holding_invalid_type, reason = "the fault that this case is about")]
pub mod slow;
pub mod steps {
    //! A change that looks like a fix, as a variant of its own.

    pub mod rwlock_held;
}

use std::{collections::HashMap, convert::Infallible, time::Duration};

// Tokio's mutex. In the build for `just flame`, it also records who waits for it and who holds it.
use case_probe::sync::Mutex;
use case_server::InProcess;
use warp::{Filter, Rejection};

/// The case's own flags.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// Milliseconds that a read waits for its downstream, in place of a database or another service
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub downstream_ms: u64,
}

impl Options {
    /// How long a read waits for its downstream.
    pub fn downstream(self) -> Duration {
        Duration::from_millis(self.downstream_ms)
    }
}

/// One subscriber, as the service keeps it in memory.
#[derive(Clone, Debug)]
pub struct Client {
    /// The read route adds up the ids of all clients.
    pub user_id: u32,
}

/// Clients by name. The lock protects this map.
pub type ClientMap = HashMap<String, Client>;

/// The three clients that every variant starts with.
fn first_clients() -> ClientMap {
    [("87-89-34", 1), ("22-38-21", 2), ("12-67-22", 3)]
        .map(|(name, user_id)| (name.to_owned(), Client { user_id }))
        .into()
}

/// Copies what a read needs, so that it can use the ids without the guard.
fn user_ids(clients: &ClientMap) -> Vec<String> {
    clients.values().map(|client| client.user_id.to_string()).collect()
}

/// Simulates a call to another service with a sleep.
async fn ask_downstream(wait: Duration) {
    let _recorded = case_probe::span("downstream wait");
    tokio::time::sleep(wait).await;
}

/// Computes the answer of a read.
fn sum(user_ids: &[String]) -> String {
    let ids = user_ids.iter().map(|id| id.parse::<u64>().expect("made from a number"));
    ids.sum::<u64>().to_string()
}

/// `GET /read`.
fn read_route() -> impl Filter<Extract = (), Error = Rejection> + Copy {
    warp::path!("read").and(warp::get())
}

/// `PUT /clients/NAME/ID` adds or replaces a client.
fn write_route() -> impl Filter<Extract = (String, u32), Error = Rejection> + Copy {
    warp::path!("clients" / String / u32).and(warp::put())
}

/// All variants by name, for tests and benches that use no socket.
pub fn variants(downstream: Duration) -> [(&'static str, InProcess); 3] {
    [
        ("slow", InProcess::new(warp::service(slow::routes(downstream)))),
        ("rwlock-held", InProcess::new(warp::service(steps::rwlock_held::routes(downstream)))),
        ("fixed", InProcess::new(warp::service(fixed::routes(downstream)))),
    ]
}

/// Passes a clone of `value` to a handler.
fn with<T: Clone + Send>(value: T) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}

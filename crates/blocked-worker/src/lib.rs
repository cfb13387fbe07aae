//! A service whose users log in with a password, and that says whether it is healthy.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. [`steps::unbounded`] and
//! [`steps::all_cores`] make parts of that change. All variants share this file.

pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;
pub mod steps {
    //! Parts of the fix, each a variant of its own.

    pub mod all_cores;
    pub mod unbounded;
}
mod users;

use argon2::password_hash;
use axum::{Router, http::StatusCode};
use case_server::InProcess;
use serde::Deserialize;

pub use users::Users;

/// How many workers Tokio starts, on any machine: as many as on the two cores that this service was given in production.
/// A login keeps one worker busy; the more there are, the more often another one answers meanwhile.
/// `TOKIO_WORKER_THREADS` overrides it. How many hashes run at once depends on the machine's cores, not on this.
pub const WORKERS: usize = 2;

/// The case's own flags: what a hash costs.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// KiB of memory that a hash takes; the default is the least that OWASP recommends, and that of `argon2`
    #[arg(long, value_name = "KIB", default_value_t = 19_456, value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub memory_kib: u32,

    /// How often a hash goes over that memory
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub passes: u32,
}

/// The answer to a login: a greeting, or the error.
pub type Answer = Result<String, (StatusCode, &'static str)>;

/// The body of `POST /login`.
#[derive(Deserialize)]
pub struct Login {
    pub user: String,
    pub password: String,
}

impl Login {
    /// Reads the JSON of a request.
    pub fn parse(body: &[u8]) -> Result<Self, (StatusCode, &'static str)> {
        serde_json::from_slice(body)
            .map_err(|_| (StatusCode::BAD_REQUEST, "the body needs a user and a password\n"))
    }
}

/// `GET /health` does nothing, and answers that.
async fn health() -> &'static str {
    "ok\n"
}

/// A variant: its routes over these users.
pub type Routes = fn(Users) -> Router;

/// All variants by name, for tests and benches that use no socket.
pub const VARIANTS: [(&str, Routes); 4] = [
    ("slow", slow::routes),
    ("unbounded", steps::unbounded::routes),
    ("all-cores", steps::all_cores::routes),
    ("fixed", fixed::routes),
];

/// All variants over the same users.
pub fn variants(options: Options) -> password_hash::Result<[(&'static str, InProcess); 4]> {
    let users = Users::first(options)?;
    Ok(VARIANTS.map(|(variant, routes)| (variant, InProcess::new(routes(users.clone())))))
}

//! Half of the fix: the password is checked on a thread that serves no requests. But nothing limits how
//! many are checked at once. Tokio starts up to 512 such threads, and each check takes 19 MiB.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use tokio::task::spawn_blocking;

use crate::{Answer, Login, Users, health};

/// The service's routes.
pub fn routes(users: Users) -> Router {
    Router::new().route("/health", get(health)).route("/login", post(login)).with_state(users)
}

async fn login(State(users): State<Users>, body: Bytes) -> Answer {
    let login = Login::parse(&body)?;
    let checked = spawn_blocking(move || users.check(&login));
    checked.await.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the check broke off\n"))?
}

//! The fix: a thread that serves no requests checks the password, so that the worker can serve others
//! meanwhile. One core stays free of hashes, for those who serve: there is a permit for each of the
//! others. More checks than cores would end no sooner, and each takes its memory.

use std::{num::NonZero, sync::Arc, thread};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{Answer, Login, Users, health};

/// The service's routes.
pub fn routes(users: Users) -> Router {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // A single core has to do both.
    let state = (users, Arc::new(Semaphore::new((cores - 1).max(1))));
    Router::new().route("/health", get(health)).route("/login", post(login)).with_state(state)
}

async fn login(State((users, permits)): State<(Users, Arc<Semaphore>)>, body: Bytes) -> Answer {
    let login = Login::parse(&body)?;
    let permit = permits.acquire_owned().await.expect("nobody closes the semaphore");
    let checked = spawn_blocking(move || {
        // Returned when the check ends, even if the client has left.
        let _permit = permit;
        users.check(&login)
    });
    checked.await.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the check broke off\n"))?
}

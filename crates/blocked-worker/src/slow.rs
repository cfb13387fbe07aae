//! A login reads the body, checks the password, and greets the user.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    routing::{get, post},
};

use crate::{Answer, Login, Users, health};

/// The service's routes.
pub fn routes(users: Users) -> Router {
    Router::new().route("/health", get(health)).route("/login", post(login)).with_state(users)
}

async fn login(State(users): State<Users>, body: Bytes) -> Answer {
    let login = Login::parse(&body)?;
    users.check(&login)
}

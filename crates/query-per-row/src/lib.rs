//! A shop's service that lists the newest orders, with the names of their customers.
//!
//! The orders are in a database: SQLite inside the server, or PostgreSQL with the feature `postgres` and
//! `--database-url`. Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. [`steps::in_list`] is another
//! fix. All variants share this file.

mod database;
pub mod fixed;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;
pub mod steps {
    //! Another fix, measured alone.

    pub mod in_list;
}

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{MethodRouter, put},
};
use case_server::InProcess;
use serde::{Deserialize, Serialize};
use sqlx::AnyPool;

pub use database::{Database, Options};

/// An order as the shop's page shows it.
#[derive(Debug, Serialize)]
pub struct Line {
    pub id: i32,
    pub cents: i32,
    /// The name of the customer.
    pub customer: String,
}

/// The query of `GET /orders?limit=N`.
#[derive(Debug, Deserialize)]
pub struct Page {
    /// 100 if it is missing, and 1,000 at most.
    limit: Option<u16>,
}

impl Page {
    fn limit(&self) -> i32 {
        self.limit.unwrap_or(100).min(1000).into()
    }
}

/// The database did not answer.
#[derive(Debug)]
pub struct Failure(sqlx::Error);

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::BAD_GATEWAY, format!("no answer from the database: {}\n", self.0))
            .into_response()
    }
}

/// Waits for the answer of the database. `just flame` shows each wait as a span of its request.
async fn ask<T>(query: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    let _recorded = case_probe::span("query");
    query.await
}

/// The service's routes: `GET /orders`, and `PUT /customers/ID/NAME` to rename a customer.
fn routes(orders: MethodRouter<AnyPool>, database: Database) -> Router {
    let routes =
        Router::new().route("/orders", orders).route("/customers/{id}/{name}", put(rename));
    // The file of an embedded database lives as long as the routes.
    routes.with_state(database.pool.clone()).layer(axum::Extension(database))
}

async fn rename(
    State(database): State<AnyPool>,
    Path((id, name)): Path<(i32, String)>,
) -> Result<StatusCode, Failure> {
    let update = sqlx::query("UPDATE customers SET name = $1 WHERE id = $2").bind(name).bind(id);
    match ask(update.execute(&database)).await?.rows_affected() {
        0 => Ok(StatusCode::NOT_FOUND),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// All variants by name, for tests and benches that use no socket.
pub fn variants(database: &Database) -> [(&'static str, InProcess); 3] {
    [
        ("slow", InProcess::new(slow::routes(database.clone()))),
        ("in-list", InProcess::new(steps::in_list::routes(database.clone()))),
        ("fixed", InProcess::new(fixed::routes(database.clone()))),
    ]
}

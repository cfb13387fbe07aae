//! The shop: its state, its routes, and what happens around each request.

mod db;
mod log;
mod metrics;
mod render;
mod routes;
mod sessions;
mod stock;

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use sqlx::SqlitePool;

use self::{log::Log, metrics::Metrics, sessions::Sessions, stock::Stock};
use crate::{Directory, Options, data};

/// What all handlers share.
struct Shop {
    db: SqlitePool,
    log: Log,
    metrics: Metrics,
    sessions: Sessions,
    stock: Stock,
    /// The database's file is in it.
    _directory: Directory,
}

type SharedShop = State<Arc<Shop>>;

/// The shop's routes.
pub fn routes(options: &Options) -> anyhow::Result<Router> {
    let directory = options.directory()?;
    let db = crate::wait(db::open(&directory.path.join(data::DATABASE)))?;
    let shop = Arc::new(Shop {
        log: Log::open(&directory.path.join(data::LOG))?,
        metrics: Metrics::new(db.clone())?,
        sessions: Sessions::open(directory.path.join(data::SESSIONS))?,
        stock: Stock::new(options.stock.clone()),
        db,
        _directory: directory,
    });
    let router = Router::new()
        .route("/products", get(routes::catalogue::list))
        .route("/products/{id}", get(routes::catalogue::product))
        .route("/products/{id}/price", put(routes::catalogue::set_price))
        .route("/search", get(routes::catalogue::search))
        .route("/login", post(routes::account::login))
        .route("/orders", get(routes::account::orders))
        .route("/basket", get(routes::basket::show).put(routes::basket::replace))
        .route("/checkout", post(routes::checkout::checkout))
        .layer(from_fn_with_state(shop.clone(), observe))
        .route("/metrics", get(metrics))
        .with_state(shop);
    Ok(router)
}

/// Counts, times and logs a request.
async fn observe(State(shop): SharedShop, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let method = request.method().clone();
    let path = request.uri().to_string();
    let route = route(request.uri().path());
    shop.metrics.in_flight.inc();
    let response = next.run(request).await;
    shop.metrics.in_flight.dec();
    let took = begin.elapsed();
    shop.metrics.seconds.with_label_values(&[method.as_str(), &route]).observe(took.as_secs_f64());
    shop.log.request(&method, &path, response.status(), took);
    response
}

/// A path without its number: there must not be a histogram for each product.
fn route(path: &str) -> String {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').skip(1).map(|part| if is_number(part) { "/{id}" } else { part });
    parts.fold(String::new(), |route, part| {
        route + if part.starts_with('/') { "" } else { "/" } + part
    })
}

async fn metrics(State(shop): SharedShop) -> Result<String, Failure> {
    Ok(shop.metrics.as_text()?)
}

/// A request that the shop can't serve.
enum Failure {
    NotFound(&'static str),
    Refused(StatusCode, &'static str),
    Internal(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Internal(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound(what) => {
                (StatusCode::NOT_FOUND, format!("no such {what}\n")).into_response()
            }
            Self::Refused(status, why) => (status, format!("{why}\n")).into_response(),
            Self::Internal(error) => {
                eprintln!("{error:#}");
                (StatusCode::INTERNAL_SERVER_ERROR, "something went wrong\n").into_response()
            }
        }
    }
}

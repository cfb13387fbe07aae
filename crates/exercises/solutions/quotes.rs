//! The fix: as many connections as the wholesaler accepts, and no lock while one of them waits.
//!
//! Two limits are in a row. The guard of `lowest` lives through the question to the wholesaler, so one
//! quote at a time gets as far as that. And there is only one connection, which carries one question at a
//! time. Each limit lets one quote through in 50 ms, 20 per second, and throughput is the smaller of the two.
//! So `slow` gives 20 quotes per second. It still does with more connections, because the lock lets one
//! request at them. And it does without the lock, because the requests now queue for the connection.
//!
//! With both fixes, 16 questions wait at the same time: 16 / 50 ms = 320 quotes per second, a factor of 16.
//! Then the 16 connections are the limit. Without them, 48 users would get 48 / 50 ms = 960.
//!
//! The guard can move behind the question, because the lowest price is needed only then.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use case_probe::sync::Mutex;
use serde::{Deserialize, Serialize};

use crate::{Depot, MOST_CONNECTIONS, Options, Wholesaler, change_routes};

/// What all requests share.
struct Shop {
    wholesaler: Arc<Wholesaler>,
    /// The lowest price of each item so far, in cents.
    lowest: Mutex<HashMap<String, u32>>,
}

/// The service's routes.
pub fn routes(options: Options) -> anyhow::Result<Router> {
    let wholesaler = Wholesaler::connect(options, MOST_CONNECTIONS)?;
    let shop = Shop { wholesaler: wholesaler.clone(), lowest: Mutex::default() };
    let routes = Router::new()
        .route("/quotes/{depot}/{item}", get(quote))
        .route("/lowest/{item}", get(lowest))
        .with_state(Arc::new(shop));
    Ok(routes.merge(change_routes(wholesaler)))
}

#[derive(Deserialize)]
struct Order {
    amount: u32,
}

#[derive(Serialize)]
struct Quote {
    item: String,
    depot: Depot,
    cents: u64,
    /// Whether nobody was quoted a lower price.
    is_lowest: bool,
}

async fn quote(
    State(shop): State<Arc<Shop>>,
    Path((depot, item)): Path<(Depot, String)>,
    Query(order): Query<Order>,
) -> Result<Json<Quote>, StatusCode> {
    let price = shop.wholesaler.price(depot, &item).await;
    let price = price.ok_or(StatusCode::NOT_FOUND)?;
    let mut lowest = shop.lowest.lock().await;
    let known = lowest.entry(item.clone()).or_insert(price);
    *known = price.min(*known);
    let cents = u64::from(price) * u64::from(order.amount);
    Ok(Json(Quote { item, depot, cents, is_lowest: price == *known }))
}

async fn lowest(
    State(shop): State<Arc<Shop>>,
    Path(item): Path<String>,
) -> Result<String, StatusCode> {
    let lowest = shop.lowest.lock().await;
    lowest.get(&item).map(|cents| format!("{cents}\n")).ok_or(StatusCode::NOT_FOUND)
}

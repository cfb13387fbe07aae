//! `GET /quotes/DEPOT/ITEM?amount=N` asks the wholesaler, and notes the lowest price so far.
//! `GET /lowest/ITEM` shows what was noted.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use case_probe::sync::Mutex;
use serde::{Deserialize, Serialize};

use crate::{Depot, Options, Wholesaler, change_routes};

/// What all requests share.
struct Shop {
    wholesaler: Arc<Wholesaler>,
    /// The lowest price of each item so far, in cents.
    lowest: Mutex<HashMap<String, u32>>,
}

/// The service's routes.
pub fn routes(options: Options) -> anyhow::Result<Router> {
    let wholesaler = Wholesaler::connect(options, 1)?;
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
    let mut lowest = shop.lowest.lock().await;
    let price = shop.wholesaler.price(depot, &item).await;
    let price = price.ok_or(StatusCode::NOT_FOUND)?;
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

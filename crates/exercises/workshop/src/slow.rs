//! `GET /parts/ITEM?amount=N` lists what has to be bought for so many of an item.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};

use crate::{Office, Options, Order, Part, change_routes, text};

/// The service's routes.
pub fn routes(options: Options) -> Router {
    let office = Office::new(options);
    let routes = Router::new().route("/parts/{item}", get(parts)).with_state(office.clone());
    routes.merge(change_routes(office))
}

async fn parts(
    State(office): State<Arc<Office>>,
    Path(item): Path<String>,
    Query(order): Query<Order>,
) -> Result<String, StatusCode> {
    let mut list = BTreeMap::new();
    add(&office, item.clone(), order.amount.into(), &mut list).await;
    if list.contains_key(&item) {
        // It has no drawing.
        Err(StatusCode::NOT_FOUND)
    } else {
        Ok(text(&list))
    }
}

/// Adds what has to be bought for so many of an item: the item itself, if it isn't made of parts.
async fn add(office: &Office, item: String, amount: u64, list: &mut BTreeMap<String, u64>) {
    let parts = office.drawing(&item).await;
    if parts.is_empty() {
        *list.entry(item).or_default() += amount;
        return;
    }
    for Part { name, count } in parts {
        Box::pin(add(office, name, amount * u64::from(count), list)).await;
    }
}

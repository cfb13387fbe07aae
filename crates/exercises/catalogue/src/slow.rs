//! `GET /feed` lists products, and `GET /products/CODE` shows one of them.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    routing::get,
};
use serde_json::{Value, json};

use crate::{Product, Query as Wanted, Refusal, products};

/// What all requests share. Nobody changes it.
struct Shop {
    products: Vec<Product>,
}

/// The service's routes.
pub fn routes() -> Router {
    let shop = Arc::new(Shop { products: products() });
    Router::new().route("/feed", get(feed)).route("/products/{code}", get(product)).with_state(shop)
}

async fn feed(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, Refusal> {
    wanted.ensure_valid()?;
    let most = wanted.most.unwrap_or(usize::MAX);
    let products = shop.products.iter().filter(|product| product.fits(&wanted)).take(most);
    let entries =
        products.map(|product| entry(product, wanted.rate)).collect::<Result<Vec<_>, _>>()?;
    Ok(Json(json!({
        "count": entries.len(),
        "in_stock": entries.iter().filter(|entry| is_in_stock(entry)).count(),
        "products": entries,
        "rate": wanted.rate,
    })))
}

async fn product(
    State(shop): State<Arc<Shop>>,
    Path(code): Path<u32>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, Refusal> {
    wanted.ensure_valid()?;
    let nth = shop.products.binary_search_by_key(&code, |product| product.code);
    let nth = nth.map_err(|_| (StatusCode::NOT_FOUND, "no such product\n"))?;
    Ok(Json(entry(&shop.products[nth], wanted.rate)?))
}

/// A product with the address of its page, and its tax in one country.
fn entry(product: &Product, rate: u32) -> Result<Value, Refusal> {
    let mut entry = serde_json::to_value(product)
        .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the product cannot be shown\n"))?;
    entry["url"] = format!("/products/{}?rate={rate}", product.code).into();
    entry["vat_cents"] = product.vat_cents(rate).into();
    Ok(entry)
}

fn is_in_stock(entry: &Value) -> bool {
    entry["stock"].as_u64().is_some_and(|stock| stock > 0)
}

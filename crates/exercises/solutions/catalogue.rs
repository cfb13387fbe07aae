//! The fix: an entry borrows its product and adds two fields, and it becomes text at once.
//!
//! `to_value` makes a tree of each product, with an allocation for each text, for each list and for the name
//! of each field: 13 for a product, with the address. `json!` passes every value that it is given to
//! `to_value` again, which serializes all those trees into copies: 13 more. Only then does `Json` write text.
//! If you only avoid the copies, half of the work is left.
//!
//! The tree was there to add fields. A struct that borrows the product adds them too: `flatten` writes the
//! fields of the product next to its own. One allocation is left, the address.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;

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

#[derive(Serialize)]
struct Feed<'a> {
    count: usize,
    in_stock: usize,
    products: Vec<Entry<'a>>,
    rate: u32,
}

async fn feed(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Refusal> {
    wanted.ensure_valid()?;
    let most = wanted.most.unwrap_or(usize::MAX);
    let products = shop.products.iter().filter(|product| product.fits(&wanted)).take(most);
    let products: Vec<_> = products.map(|product| Entry::new(product, wanted.rate)).collect();
    let feed = Feed {
        count: products.len(),
        in_stock: products.iter().filter(|entry| entry.product.stock > 0).count(),
        products,
        rate: wanted.rate,
    };
    Ok(Json(feed).into_response())
}

async fn product(
    State(shop): State<Arc<Shop>>,
    Path(code): Path<u32>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Refusal> {
    wanted.ensure_valid()?;
    let nth = shop.products.binary_search_by_key(&code, |product| product.code);
    let nth = nth.map_err(|_| (StatusCode::NOT_FOUND, "no such product\n"))?;
    Ok(Json(Entry::new(&shop.products[nth], wanted.rate)).into_response())
}

/// A product with the address of its page, and its tax in one country.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    product: &'a Product,
    url: String,
    vat_cents: u64,
}

impl<'a> Entry<'a> {
    fn new(product: &'a Product, rate: u32) -> Self {
        Self {
            product,
            url: format!("/products/{}?rate={rate}", product.code),
            vat_cents: product.vat_cents(rate),
        }
    }
}

//! Looking around: the list, a product, the search.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::Html,
};
use minijinja::{context, value::Serde};
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use super::{Failure, SharedShop, render};

const PAGE: u32 = 20;

#[derive(Deserialize)]
pub struct Page {
    page: u32,
}

/// A product in a list, with tenths of a star.
#[derive(Serialize)]
struct Line {
    id: u32,
    name: String,
    cents: u32,
    stars: u32,
    reviews: u32,
}

/// `GET /products?page=N`
pub async fn list(
    State(shop): SharedShop,
    Query(Page { page }): Query<Page>,
) -> Result<Html<String>, Failure> {
    let rated = "SELECT products.id, name, cents,
            COALESCE(SUM(stars), 0) * 10 / MAX(COUNT(stars), 1) AS stars, COUNT(stars) AS reviews
        FROM (SELECT * FROM products ORDER BY id LIMIT ? OFFSET ?) AS products
        LEFT JOIN reviews ON product_id = products.id
        GROUP BY products.id ORDER BY products.id";
    let rated: Vec<(u32, String, u32, u32, u32)> = sqlx::query_as(rated)
        .bind(PAGE)
        .bind(page.saturating_sub(1) * PAGE)
        .fetch_all(&shop.db)
        .await?;
    if rated.is_empty() {
        return Err(Failure::NotFound("page"));
    }
    let line = |(id, name, cents, stars, reviews)| Line { id, name, cents, stars, reviews };
    let lines: Vec<_> = rated.into_iter().map(line).collect();
    Ok(Html(render::page("list.html", context! { page, lines => Serde(lines) })?))
}

/// Tenths of a star, and of how many reviews.
async fn rating(db: &SqlitePool, product: u32) -> sqlx::Result<(u32, u32)> {
    let rating = "SELECT COALESCE(SUM(stars), 0) * 10 / MAX(COUNT(*), 1), COUNT(*) FROM reviews WHERE product_id = ?";
    sqlx::query_as(rating).bind(product).fetch_one(db).await
}

/// `GET /products/ID`
pub async fn product(
    State(shop): SharedShop,
    Path(id): Path<u32>,
) -> Result<Html<String>, Failure> {
    let product: Option<(String, u32, String)> =
        sqlx::query_as("SELECT name, cents, text FROM products WHERE id = ?")
            .bind(id)
            .fetch_optional(&shop.db)
            .await?;
    let (name, cents, text) = product.ok_or(Failure::NotFound("product"))?;
    let reviews: Vec<(u32, String)> =
        sqlx::query_as("SELECT stars, text FROM reviews WHERE product_id = ? ORDER BY id")
            .bind(id)
            .fetch_all(&shop.db)
            .await?;
    let (stars, _) = rating(&shop.db, id).await?;
    // A page without this number is better than none.
    let in_stock = shop.stock.of(id).await.ok();
    Ok(Html(render::page(
        "product.html",
        context! { id, name, cents, text, stars, reviews, in_stock },
    )?))
}

#[derive(Deserialize)]
pub struct Price {
    cents: u32,
}

/// `PUT /products/ID/price`, for the shop's staff.
pub async fn set_price(
    State(shop): SharedShop,
    Path(id): Path<u32>,
    Json(Price { cents }): Json<Price>,
) -> Result<StatusCode, Failure> {
    let set = sqlx::query("UPDATE products SET cents = ? WHERE id = ?").bind(cents).bind(id);
    match set.execute(&shop.db).await?.rows_affected() {
        0 => Err(Failure::NotFound("product")),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

#[derive(Deserialize)]
pub struct Search {
    q: String,
}

#[derive(Serialize)]
pub struct Hit {
    id: u32,
    name: String,
    cents: u32,
}

/// `GET /search?q=WORD`: the ten cheapest products with this in their names.
pub async fn search(
    State(shop): SharedShop,
    Query(Search { q }): Query<Search>,
) -> Result<Json<Vec<Hit>>, Failure> {
    let hits = "SELECT id, name, cents FROM products WHERE name LIKE '%' || ? || '%' ORDER BY cents, id LIMIT 10";
    let hits: Vec<(u32, String, u32)> = sqlx::query_as(hits).bind(q).fetch_all(&shop.db).await?;
    Ok(Json(hits.into_iter().map(|(id, name, cents)| Hit { id, name, cents }).collect()))
}

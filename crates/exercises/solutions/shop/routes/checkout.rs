//! From a basket to an order.

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;

use super::{
    Failure, SharedShop,
    sessions::{Session, Visitor},
    stock::Reservation,
};
use crate::stock_service::Item;

/// The client chooses the reference, so that it may ask again when it got no answer.
#[derive(Deserialize)]
pub struct Checkout {
    reference: String,
}

/// `POST /checkout`
pub async fn checkout(
    State(shop): SharedShop,
    visitor: Visitor,
    Json(Checkout { reference }): Json<Checkout>,
) -> Result<(StatusCode, String), Failure> {
    if reference.is_empty()
        || !reference.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        return Err(Failure::Refused(StatusCode::BAD_REQUEST, "not a reference"));
    }
    let Session { customer, basket } = visitor.session;
    let known: Option<(u32, u32)> =
        sqlx::query_as("SELECT customer_id, cents FROM orders WHERE reference = ?")
            .bind(&reference)
            .fetch_optional(&shop.db)
            .await?;
    match known {
        Some((of, sum)) if of == customer => return Ok((StatusCode::OK, receipt(&reference, sum))),
        Some(_) => return Err(Failure::Refused(StatusCode::CONFLICT, "this reference is taken")),
        None if basket.is_empty() => {
            return Err(Failure::Refused(StatusCode::BAD_REQUEST, "the basket is empty"));
        }
        None => {}
    }
    let mut prices = Vec::new();
    for &(product, amount) in &basket {
        let (cents,): (u32,) = sqlx::query_as("SELECT cents FROM products WHERE id = ?")
            .bind(product)
            .fetch_one(&shop.db)
            .await?;
        prices.push((amount, cents));
    }
    let sum = total(&prices);

    // The goods come first, without a transaction that others wait for. If the order can't be stored, the client
    // asks again: the service reserves nothing twice for the same reference.
    let items = basket.iter().map(|&(product, amount)| Item { product, amount }).collect();
    if let Reservation::NotEnough = shop.stock.reserve(&reference, items).await? {
        return Err(Failure::Refused(StatusCode::CONFLICT, "we don't have enough of it"));
    }
    let mut transaction = shop.db.begin_with("BEGIN IMMEDIATE").await?;
    let order = sqlx::query("INSERT INTO orders (reference, customer_id, cents) VALUES (?, ?, ?)")
        .bind(&reference)
        .bind(customer)
        .bind(sum)
        .execute(&mut *transaction)
        .await?
        .last_insert_rowid();
    for (line, (&(product, _), &(amount, cents))) in basket.iter().zip(&prices).enumerate() {
        sqlx::query("INSERT INTO order_lines (order_id, line, product_id, amount, cents) VALUES (?, ?, ?, ?, ?)")
            .bind(order)
            .bind(line as u32)
            .bind(product)
            .bind(amount)
            .bind(cents)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    shop.sessions.put(&visitor.token, Session { customer, basket: Vec::new() })?;
    Ok((StatusCode::CREATED, receipt(&reference, sum)))
}

fn receipt(reference: &str, sum: u32) -> String {
    format!("Order {reference}: {}.{:02}\n", sum / 100, sum % 100)
}

/// What the lines cost together. Of the pieces that cost the same, every third is free.
fn total(prices: &Vec<(u32, u32)>) -> u32 {
    let mut sum = 0;
    for nth in 0..prices.len() {
        let mut before = 0;
        for other in prices.clone().into_iter().enumerate() {
            if other.0 < nth {
                let price_of_other = other.1.clone().1;
                if price_of_other == prices.clone()[nth].1 {
                    before = before + other.1.clone().0;
                }
            }
        }
        let mut pieces = prices.clone()[nth].0;
        for piece in 1..=prices.clone()[nth].0 {
            if (before + piece) % 3 == 0 {
                pieces = pieces - 1;
            }
        }
        sum = sum + pieces * prices.clone()[nth].1;
    }
    sum
}

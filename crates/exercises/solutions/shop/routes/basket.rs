//! The basket of a visitor who is logged in.

use axum::{Json, extract::State, http::StatusCode, response::Html};
use minijinja::context;

use super::{
    Failure, SharedShop, render,
    sessions::{Entry, Session, Visitor},
};

const MOST_ENTRIES: usize = 50;

/// `GET /basket`
pub async fn show(State(shop): SharedShop, visitor: Visitor) -> Result<Html<String>, Failure> {
    let (mut lines, mut sum) = (Vec::new(), 0);
    for (product, amount) in visitor.session.basket {
        let (name, cents): (String, u32) =
            sqlx::query_as("SELECT name, cents FROM products WHERE id = ?")
                .bind(product)
                .fetch_one(&shop.db)
                .await?;
        sum += amount * cents;
        lines.push(context! { product, name, amount, cents });
    }
    Ok(Html(render::page("basket.html", context! { lines, sum })?))
}

/// `PUT /basket`: the whole basket, as pairs of a product and how many of it.
pub async fn replace(
    State(shop): SharedShop,
    visitor: Visitor,
    Json(basket): Json<Vec<Entry>>,
) -> Result<StatusCode, Failure> {
    if basket.len() > MOST_ENTRIES || basket.iter().any(|(_, amount)| !(1..=1_000).contains(amount))
    {
        return Err(Failure::Refused(StatusCode::BAD_REQUEST, "not a basket"));
    }
    for (product, _) in &basket {
        let known: Option<(u32,)> = sqlx::query_as("SELECT id FROM products WHERE id = ?")
            .bind(product)
            .fetch_optional(&shop.db)
            .await?;
        known.ok_or(Failure::NotFound("product"))?;
    }
    shop.sessions.put(&visitor.token, Session { basket, ..visitor.session })?;
    Ok(StatusCode::NO_CONTENT)
}

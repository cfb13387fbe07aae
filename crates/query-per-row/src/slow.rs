//! Lists the newest orders, each with the name of its customer.

use axum::{
    Json, Router,
    extract::{Query, State},
    routing::get,
};
use sqlx::{AnyPool, query_as};

use crate::{Database, Failure, Line, Page, ask};

/// The service's routes.
pub fn routes(database: Database) -> Router {
    crate::routes(get(orders), database)
}

async fn orders(
    State(database): State<AnyPool>,
    Query(page): Query<Page>,
) -> Result<Json<Vec<Line>>, Failure> {
    let newest = query_as("SELECT id, customer_id, cents FROM orders ORDER BY id DESC LIMIT $1");
    let orders: Vec<(i32, i32, i32)> = ask(newest.bind(page.limit()).fetch_all(&database)).await?;
    let mut lines = Vec::with_capacity(orders.len());
    for (id, customer_id, cents) in orders {
        let customer = customer_name(&database, customer_id).await?;
        lines.push(Line { id, cents, customer });
    }
    Ok(Json(lines))
}

async fn customer_name(database: &AnyPool, id: i32) -> sqlx::Result<String> {
    let customer = query_as("SELECT name FROM customers WHERE id = $1").bind(id);
    let (name,) = ask(customer.fetch_one(database)).await?;
    Ok(name)
}

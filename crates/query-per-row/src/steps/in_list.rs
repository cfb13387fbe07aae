//! Another fix: a second query asks for all customers of the page at once.

use std::collections::{BTreeSet, HashMap};

use axum::{
    Json, Router,
    extract::{Query, State},
    routing::get,
};
use sqlx::{AnyPool, AssertSqlSafe, query_as};

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
    let ids = orders.iter().map(|(_, customer_id, _)| *customer_id).collect();
    let names = customer_names(&database, ids).await?;
    let line = |(id, customer_id, cents)| {
        let customer = names.get(&customer_id).cloned().ok_or(sqlx::Error::RowNotFound)?;
        Ok(Line { id, cents, customer })
    };
    Ok(Json(orders.into_iter().map(line).collect::<sqlx::Result<_>>()?))
}

async fn customer_names(
    database: &AnyPool,
    ids: BTreeSet<i32>,
) -> sqlx::Result<HashMap<i32, String>> {
    // `IN ()` is a syntax error in PostgreSQL.
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let places: Vec<_> = (1..=ids.len()).map(|place| format!("${place}")).collect();
    let select = format!("SELECT id, name FROM customers WHERE id IN ({})", places.join(", "));
    let customers =
        ids.into_iter().fold(query_as(AssertSqlSafe(select)), |query, id| query.bind(id));
    let names: Vec<(i32, String)> = ask(customers.fetch_all(database)).await?;
    Ok(names.into_iter().collect())
}

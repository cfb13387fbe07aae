//! Customers: the login and what they have ordered.

use argon2::{Argon2, PasswordHash, PasswordVerifier as _};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::SET_COOKIE},
    response::{Html, IntoResponse},
};
use minijinja::context;
use serde::Deserialize;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    Failure, SharedShop, render,
    sessions::{self, Session, Visitor},
};

static HASHING: Semaphore = Semaphore::const_new(1);

#[derive(Deserialize)]
pub struct Login {
    mail: String,
    password: String,
}

/// `POST /login`
pub async fn login(
    State(shop): SharedShop,
    Json(login): Json<Login>,
) -> Result<impl IntoResponse, Failure> {
    let customer: Option<(u32, String, String)> =
        sqlx::query_as("SELECT id, name, password FROM customers WHERE mail = ?")
            .bind(&login.mail)
            .fetch_optional(&shop.db)
            .await?;
    const WRONG: Failure = Failure::Refused(
        StatusCode::UNAUTHORIZED,
        "this mail and this password don't belong together",
    );
    let (customer, name, hash) = customer.ok_or(WRONG)?;
    // Where it keeps no request waiting, and one at a time.
    let turn = HASHING.acquire().await?;
    let is_right = spawn_blocking(move || {
        let _turn = turn;
        is_right(&login.password, &hash)
    });
    if !is_right.await? {
        return Err(WRONG);
    }
    let token = sessions::new_token()?;
    shop.sessions.put(&token, Session { customer, basket: Vec::new() })?;
    let cookie = format!("session={token}; HttpOnly; SameSite=Lax");
    Ok(([(SET_COOKIE, cookie)], format!("Welcome, {name}\n")))
}

fn is_right(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

/// `GET /orders`: the newest 20 of this customer.
pub async fn orders(State(shop): SharedShop, visitor: Visitor) -> Result<Html<String>, Failure> {
    let newest = "SELECT reference, newest.cents, name, amount, order_lines.cents
        FROM (SELECT * FROM orders WHERE customer_id = ? ORDER BY id DESC LIMIT 20) AS newest
        JOIN order_lines ON order_id = newest.id JOIN products ON products.id = product_id
        ORDER BY newest.id DESC, line";
    let newest: Vec<(String, u32, String, u32, u32)> =
        sqlx::query_as(newest).bind(visitor.session.customer).fetch_all(&shop.db).await?;
    let mut orders = Vec::new();
    for order in newest.chunk_by(|one, next| one.0 == next.0) {
        let (reference, cents, ..) = order[0].clone();
        let lines: Vec<_> =
            order.iter().map(|(.., name, amount, cents)| (name.clone(), *amount, *cents)).collect();
        orders.push(context! { reference, cents, lines });
    }
    Ok(Html(render::page("orders.html", context! { orders })?))
}

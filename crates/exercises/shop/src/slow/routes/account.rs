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

use super::{
    Failure, SharedShop, render,
    sessions::{self, Session, Visitor},
};

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
    if !is_right(&login.password, &hash) {
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
    let newest =
        "SELECT id, reference, cents FROM orders WHERE customer_id = ? ORDER BY id DESC LIMIT 20";
    let newest: Vec<(u32, String, u32)> =
        sqlx::query_as(newest).bind(visitor.session.customer).fetch_all(&shop.db).await?;
    let mut orders = Vec::new();
    for (id, reference, cents) in newest {
        let lines = "SELECT name, amount, order_lines.cents FROM order_lines
            JOIN products ON products.id = product_id WHERE order_id = ? ORDER BY line";
        let lines: Vec<(String, u32, u32)> =
            sqlx::query_as(lines).bind(id).fetch_all(&shop.db).await?;
        orders.push(context! { reference, cents, lines });
    }
    Ok(Html(render::page("orders.html", context! { orders })?))
}

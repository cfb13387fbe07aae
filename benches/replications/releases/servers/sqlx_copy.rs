//! Each request copies ten rows into a table of PostgreSQL.

use axum::{Router, extract::State, http::StatusCode, routing::get};
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::net::TcpListener;

async fn copy(State(pool): State<PgPool>) -> Result<String, StatusCode> {
    rows(&pool).await.map_err(|error| {
        eprintln!("{error}");
        StatusCode::INTERNAL_SERVER_ERROR
    })
}

async fn rows(pool: &PgPool) -> sqlx::Result<String> {
    let mut connection = pool.acquire().await?;
    let mut copy = connection.copy_in_raw("COPY readings FROM STDIN").await?;
    for at in 0..10 {
        copy.send(format!("{at}\tsensor {at}\n").as_bytes()).await?;
    }
    Ok(copy.finish().await?.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse::<u16>().ok());
    let url = arguments.next().ok_or("it takes a port and the URL of PostgreSQL")?;
    let pool = PgPoolOptions::new().max_connections(8).connect(&url).await?;
    sqlx::query("CREATE UNLOGGED TABLE IF NOT EXISTS readings (at INT, sensor TEXT)")
        .execute(&pool)
        .await?;
    let routes = Router::new().route("/", get(copy)).with_state(pool);
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    Ok(axum::serve(listener, routes).await?)
}

//! Each request does a little work on the pool of blocking threads, as a hash or a query of SQLite.

use axum::{Router, http::StatusCode, routing::get};
use tokio::{net::TcpListener, task::spawn_blocking};

fn work() -> String {
    (0..20_000_u64)
        .fold(0, |sum: u64, number| sum.rotate_left(7) ^ std::hint::black_box(number))
        .to_string()
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let answer =
        || async { spawn_blocking(work).await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR) };
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    axum::serve(listener, Router::new().route("/", get(answer))).await
}

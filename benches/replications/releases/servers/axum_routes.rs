//! A thousand routes in one router.

use axum::{Router, routing::get};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let routes = (0..1000).fold(Router::new(), |routes, number| {
        routes.route(&format!("/route/{number}"), get(|| async { "ok" }))
    });
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    axum::serve(listener, routes).await
}

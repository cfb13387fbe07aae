//! A handler below ten routers, each nested in the next.

use std::net::SocketAddr;

use axum::{Router, Server, routing::get};

#[tokio::main]
async fn main() -> Result<(), hyper::Error> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let routes = (0..10)
        .fold(Router::new().route("/leaf", get(|| async { "ok" })), |inner, level| {
            Router::new().nest(&format!("/{level}"), inner)
        });
    let address = SocketAddr::from(([127, 0, 0, 1], port.unwrap_or(0)));
    Server::bind(&address).serve(routes.into_make_service()).await
}

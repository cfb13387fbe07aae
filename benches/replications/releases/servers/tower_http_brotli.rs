//! A list of 300 orders as JSON, compressed as the client asks for.

use std::{fmt::Write as _, net::SocketAddr};

use axum::{Router, Server, http::header::CONTENT_TYPE, routing::get};
use tower_http::compression::CompressionLayer;

/// About 30 kB that don't repeat.
fn orders() -> String {
    let mut state = 1_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        state >> 16
    };
    let mut json = String::from("[");
    for id in 0..300 {
        let comma = if id == 0 { "" } else { "," };
        let (customer, cents) = (next() % 500, next());
        let _ = write!(
            json,
            r#"{comma}{{"id":{id},"customer":"customer {customer}","cents":{cents},"paid":{},"note":"{:x}{:x}"}}"#,
            cents % 3 == 0,
            next(),
            next()
        );
    }
    json + "]"
}

#[tokio::main]
async fn main() -> Result<(), hyper::Error> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let body: &'static str = orders().leak();
    let answer = move || async move { ([(CONTENT_TYPE, "application/json")], body) };
    let routes = Router::new().route("/orders", get(answer)).layer(CompressionLayer::new());
    let address = SocketAddr::from(([127, 0, 0, 1], port.unwrap_or(0)));
    Server::bind(&address).tcp_nodelay(true).serve(routes.into_make_service()).await
}

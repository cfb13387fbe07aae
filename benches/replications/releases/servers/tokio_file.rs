//! A file of 8 MB, sent in pieces of 1 MiB.

use std::{io, net::SocketAddr};

use axum::{Router, Server, body::StreamBody, http::StatusCode, routing::get};
use tokio::fs::File;
use tokio_util::io::ReaderStream;

async fn file(path: String) -> Result<StreamBody<ReaderStream<File>>, StatusCode> {
    let file = File::open(path).await.map_err(|_| StatusCode::NOT_FOUND)?;
    Ok(StreamBody::new(ReaderStream::with_capacity(file, 1 << 20)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let path =
        std::env::args().nth(2).ok_or_else(|| io::Error::other("it takes a port and a file"))?;
    let routes = Router::new().route("/", get(move || file(path)));
    let address = SocketAddr::from(([127, 0, 0, 1], port.unwrap_or(0)));
    Ok(Server::bind(&address).serve(routes.into_make_service()).await?)
}

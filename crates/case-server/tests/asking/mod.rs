//! A server in this process, and questions to it over a real socket.

use std::net::SocketAddr;

use case_server::{Limits, serve};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warp::{Filter, Reply, filters::BoxedFilter};

/// Serves `routes` for as long as the test lasts; returns where.
pub async fn served(routes: BoxedFilter<(impl Reply + 'static,)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = warp::service(routes.map(Reply::into_response));
    tokio::spawn(serve(listener, service, Limits::default(), std::future::pending()));
    address
}

/// The whole answer to `GET path`, with its head.
pub async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

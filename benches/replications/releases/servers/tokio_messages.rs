//! Each request sends a message around a ring of eight tasks, ten times.

use axum::{Router, http::StatusCode, routing::get};
use tokio::{net::TcpListener, sync::mpsc};

async fn ring() -> Option<String> {
    let (first, mut inbox) = mpsc::channel::<u32>(1);
    for _ in 0..8 {
        let (next, outbox) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Some(number) = inbox.recv().await {
                if next.send(number + 1).await.is_err() {
                    break;
                }
            }
        });
        inbox = outbox;
    }
    let mut number = 0;
    for _ in 0..10 {
        first.send(number).await.ok()?;
        number = inbox.recv().await?;
    }
    Some(number.to_string())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let answer = || async { ring().await.ok_or(StatusCode::INTERNAL_SERVER_ERROR) };
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    axum::serve(listener, Router::new().route("/", get(answer))).await
}

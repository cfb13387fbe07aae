//! What a TLS server does for the tickets of 200 clients that resume their sessions: each is decrypted, and a new one
//! encrypted.

use std::sync::Arc;

use axum::{Router, http::StatusCode, routing::get};
use rustls::{crypto::ring::Ticketer, server::ProducesTickets};
use tokio::net::TcpListener;

fn resume(tickets: &Arc<dyn ProducesTickets>) -> Option<usize> {
    let mut ticket = tickets.encrypt(&[7; 200])?;
    for _ in 0..200 {
        ticket = tickets.encrypt(&tickets.decrypt(&ticket)?)?;
    }
    Some(ticket.len())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let tickets = Ticketer::new()?;
    let answer = move || async move {
        resume(&tickets).map(|length| length.to_string()).ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    };
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    Ok(axum::serve(listener, Router::new().route("/", get(answer))).await?)
}

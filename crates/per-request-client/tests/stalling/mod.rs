//! A network between proxy and upstream that goes dead in the middle of an answer.

use std::future::pending;

use tokio::{
    io::{AsyncReadExt as _, copy},
    net::{TcpListener, TcpStream},
};

/// How many bytes of the upstream's get through on each connection: its handshake, which takes some
/// two thousand, and the first of the TLS records that carry the answer, which are of 16 KiB.
const CARRIED: u64 = 40_000;

/// Opens a way to `upstream` that stalls, and returns the URL to take it.
pub async fn stalling(upstream: &str) -> String {
    let upstream = upstream.strip_prefix("https://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (near, _) = listener.accept().await.unwrap();
            let far = TcpStream::connect(&upstream).await.unwrap();
            tokio::spawn(carry(near, far));
        }
    });
    url
}

/// Stays until the proxy closes `near`.
async fn carry(mut near: TcpStream, mut far: TcpStream) {
    let (mut requests, mut to_proxy) = near.split();
    let (answers, mut to_upstream) = far.split();
    let there = copy(&mut requests, &mut to_upstream);
    let back = async {
        let _ = copy(&mut answers.take(CARRIED), &mut to_proxy).await;
        pending::<()>().await;
    };
    tokio::select! {
        _ = there => {}
        () = back => {}
    }
}

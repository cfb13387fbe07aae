//! A relay between proxy and site that stops in the middle of an answer.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpStream},
};

/// Bytes from the site that each connection lets through: the handshake of about 2,000 bytes, and the
/// first TLS records of the answer, 16 KiB each.
const CARRIED: u64 = 40_000;

/// Starts a relay to `site` that stalls, and returns its URL.
pub async fn stalling(site: &str) -> String {
    let site = site.strip_prefix("https://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut proxy, _)) = listener.accept().await {
            let mut site = TcpStream::connect(&site).await.unwrap();
            tokio::spawn(async move {
                let (mut requests, mut to_proxy) = proxy.split();
                let (answers, mut to_site) = site.split();
                let back = async {
                    let _ = copy(&mut answers.take(CARRIED), &mut to_proxy).await;
                    std::future::pending::<()>().await;
                };
                // Ends when the proxy closes the connection.
                tokio::select! { _ = copy(&mut requests, &mut to_site) => {} () = back => {} }
                let _ = to_site.shutdown().await;
            });
        }
    });
    url
}

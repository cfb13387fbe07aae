//! An HTTPS site that answers `GET /N/MS` with `N` bytes after `MS` milliseconds. The case's own site
//! answers at once, and its largest resource has 86,000 bytes.

use std::{net::SocketAddr, thread, time::Duration};

use axum::{Router, body::Bytes, extract::Path, http::StatusCode, routing::get, serve::Listener};
use benches::downstream::Downstream;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Builder,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// The largest body, in bytes.
const LARGEST: usize = 256_000_000;

/// A site on a thread of its own, until the process ends.
pub struct Site;

impl Site {
    /// The site, its URL, and the authority to trust as PEM.
    pub fn start() -> anyhow::Result<(Self, String, String)> {
        let (tls, authority) = tls_site::for_loopback()?;
        let tls = TlsAcceptor::from(tls);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let tcp = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("https://{}", tcp.local_addr()?);
        let content = Bytes::from(vec![b'.'; LARGEST]);
        let answer = async move |Path((bytes, wait_ms)): Path<(usize, u64)>| {
            if wait_ms > 0 {
                Downstream::new(Duration::from_millis(wait_ms)).answer().await;
            }
            if bytes > content.len() {
                return Err(StatusCode::NOT_FOUND);
            }
            Ok(content.slice(..bytes))
        };
        let routes = Router::new().route("/{bytes}/{wait_ms}", get(answer));
        thread::spawn(move || {
            runtime.block_on(async { axum::serve(Tls { tcp, tls }, routes).await })
        });
        Ok((Self, url, authority))
    }
}

struct Tls {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    /// Does one handshake after the other, which is enough for one visitor.
    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, visitor) = Listener::accept(&mut self.tcp).await;
            let _ = stream.set_nodelay(true);
            if let Ok(stream) = self.tls.accept(stream).await {
                return (stream, visitor);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

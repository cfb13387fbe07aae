//! The accept loop: TCP, TLS, then HTTP/1.1 with keep-alive. The counters are on the same port, in plain
//! HTTP.

use std::{
    convert::Infallible,
    future::ready,
    net::{self, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::{Counters, answer::Desk, certificate, site};

/// How long a client has for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a connection may be idle. The proxy's pool closes idle connections earlier, so that no
/// request meets a connection that the site is closing.
const IDLE: Duration = Duration::from_secs(120);
/// How long requests in flight have after a stop was requested.
const DRAIN: Duration = Duration::from_secs(2);

/// Completes when a server has to stop.
pub type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A site that listens, and answers once it [`run`](Server::run)s.
pub struct Server {
    listener: TcpListener,
    tls: TlsAcceptor,
    authority: String,
    counters: Arc<Counters>,
}

impl Server {
    /// Makes the certificates and listens on `addr`, which must be on the loopback. Needs a Tokio
    /// runtime.
    pub fn bind(addr: SocketAddr) -> anyhow::Result<Self> {
        anyhow::ensure!(
            addr.ip().is_loopback(),
            "the certificate is for 127.0.0.1 only; use `--addr 127.0.0.1:0`"
        );
        let (config, authority) = certificate::for_loopback()?;
        let listener = net::TcpListener::bind(addr).with_context(|| {
            format!("cannot listen on {addr}; `--addr 127.0.0.1:0` takes a free port")
        })?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        Ok(Self { listener, tls: config.into(), authority, counters: Arc::default() })
    }

    /// Where it listens: `https://127.0.0.1:PORT`.
    pub fn url(&self) -> anyhow::Result<String> {
        Ok(format!("https://{}", self.listener.local_addr()?))
    }

    /// The certificate authority to trust, as PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Answers until `stop` completes, then lets requests in flight end. Boxed, so that this crate
    /// compiles the server, and not each caller.
    pub fn run(self, stop: Stop) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.accept(stop))
    }

    async fn accept(self, mut stop: Stop) {
        let desk = Desk { site: site::resources().into(), counters: self.counters };
        let graceful = GracefulShutdown::new();
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Nearly always too many open files, until connections are closed.
                        eprintln!("cannot accept a connection: {error}");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = &mut stop => break,
            };
            tokio::spawn(connection(stream, self.tls.clone(), desk.clone(), graceful.watcher()));
        }
        drop(self.listener);
        let _ = timeout(DRAIN, graceful.shutdown()).await;
    }
}

/// The first byte of a TLS connection: a record of the type `handshake`.
const TLS_HANDSHAKE: u8 = 22;

/// A connection with or without TLS. Boxed, so that hyper's server is compiled once for both.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Serves one connection. An error is a client that left or does not trust this site.
async fn connection(stream: TcpStream, tls: TlsAcceptor, desk: Desk, graceful: Watcher) {
    // Without it a response in two writes waits for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let mut first = [0];
    let Ok(Ok(1)) = timeout(HANDSHAKE, stream.peek(&mut first)).await else { return };
    let is_tls = first[0] == TLS_HANDSHAKE;
    let stream: Box<dyn Stream> = if is_tls {
        desk.counters.count_connection();
        let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
        desk.counters.count_handshake(stream.get_ref().1.handshake_kind());
        Box::new(stream)
    } else {
        Box::new(stream)
    };
    let answer = |request| ready(Ok::<_, Infallible>(desk.answer(&request, is_tls)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    let _ = graceful.watch(connection).await;
}

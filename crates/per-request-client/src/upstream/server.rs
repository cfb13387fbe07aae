//! The accept loop: TCP, TLS, then HTTP/1.1 with keep-alive, and everything counted.

use std::{
    convert::Infallible,
    net::{self, SocketAddr},
    pin::pin,
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
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use super::{Counters, answer::Desk, certificate, site};

/// How long a client has for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a connection may be idle: longer than the proxy's pool keeps one, so that no request
/// meets a connection that is being closed.
const IDLE: Duration = Duration::from_secs(120);
/// How long requests in flight have to end after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(2);

/// An upstream that listens, and answers once it [`run`](Server::run)s.
pub struct Server {
    listener: TcpListener,
    tls: TlsAcceptor,
    authority: String,
    counters: Arc<Counters>,
}

impl Server {
    /// Makes the certificates and listens on `addr`, which has to be on the loopback. Has to be
    /// called from within a Tokio runtime.
    pub fn bind(addr: SocketAddr) -> anyhow::Result<Self> {
        anyhow::ensure!(addr.ip().is_loopback(), "the certificate is for 127.0.0.1 alone");
        let (config, authority) = certificate::for_loopback()?;
        let listener = net::TcpListener::bind(addr).with_context(|| {
            format!("cannot listen on {addr}; `--addr 127.0.0.1:0` takes a free port")
        })?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        Ok(Self { listener, tls: config.into(), authority, counters: Arc::default() })
    }

    /// Where it listens: `https://127.0.0.1:PORT`. By number, so that no name has to be resolved.
    pub fn url(&self) -> anyhow::Result<String> {
        Ok(format!("https://{}", self.listener.local_addr()?))
    }

    /// The certificate authority to trust, as PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What it counts.
    pub fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Answers until `stop` completes, then lets requests in flight end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let site: Arc<[site::Resource]> = site::resources().into();
        let graceful = GracefulShutdown::new();
        let mut stop = pin!(stop);
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Nearly always too many open files: closing connections will mend it.
                        eprintln!("cannot accept a connection: {error}");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = &mut stop => break,
            };
            self.counters.count_connection();
            let (tls, counters) = (self.tls.clone(), self.counters.clone());
            tokio::spawn(connection(stream, tls, site.clone(), counters, graceful.watcher()));
        }
        drop(self.listener);
        let _ = timeout(DRAIN, graceful.shutdown()).await;
    }
}

/// Serves one connection. An error is a client that left, or does not trust us: its own affair.
async fn connection(
    stream: TcpStream,
    tls: TlsAcceptor,
    site: Arc<[site::Resource]>,
    counters: Arc<Counters>,
    graceful: Watcher,
) {
    // Without it a response in two writes waits for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
    let connection = counters.count_handshake(stream.get_ref().1.handshake_kind());

    let desk = Arc::new(Desk { site, counters, connection });
    let service = service_fn(move |request| {
        let desk = desk.clone();
        async move { Ok::<_, Infallible>(desk.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service);
    let _ = graceful.watch(connection).await;
}

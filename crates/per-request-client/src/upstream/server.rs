//! The accept loop: TCP, TLS, then HTTP/1.1 with keep-alive, and everything counted; and on the same
//! port, in plain HTTP, the counters.

use std::{
    convert::Infallible,
    future::ready,
    net::{self, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
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
        let desk = Desk { site: site::resources().into(), counters: self.counters };
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
            tokio::spawn(connection(stream, self.tls.clone(), desk.clone(), graceful.watcher()));
        }
        drop(self.listener);
        let _ = timeout(DRAIN, graceful.shutdown()).await;
    }
}

/// What a TLS connection begins with: a record of the type `handshake`.
const TLS_HANDSHAKE: u8 = 22;

/// Serves one connection. An error is a client that left, or does not trust us: its own affair.
async fn connection(stream: TcpStream, tls: TlsAcceptor, desk: Desk, graceful: Watcher) {
    // Without it a response in two writes waits for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let mut first = [0];
    let Ok(Ok(1)) = timeout(HANDSHAKE, stream.peek(&mut first)).await else { return };
    if first[0] != TLS_HANDSHAKE {
        let answer = move |request| ready(desk.answer_plainly(&request));
        return http(stream, graceful, answer).await;
    }
    desk.counters.count_connection();
    let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
    desk.counters.count_handshake(stream.get_ref().1.handshake_kind());
    let desk = Arc::new(desk);
    let answer = move |request| {
        let desk = desk.clone();
        async move { desk.answer(request).await }
    };
    http(stream, graceful, answer).await;
}

/// Speaks HTTP/1.1 on a connection until either end has enough.
async fn http<A: Future<Output = Response<Full<Bytes>>>>(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    graceful: Watcher,
    answer: impl Fn(Request<Incoming>) -> A,
) {
    let service = service_fn(|request| {
        let answer = answer(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service);
    let _ = graceful.watch(connection).await;
}

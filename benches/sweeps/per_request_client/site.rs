//! An HTTPS site that answers `GET /N/MS` with `N` bytes, after so many milliseconds. The case's own
//! answers at once, and its largest resource has 86,000 bytes.

use std::{net::SocketAddr, sync::Arc, thread, time::Duration};

use anyhow::Context as _;
use axum::{Router, body::Bytes, extract::Path, http::StatusCode, routing::get, serve::Listener};
use benches::downstream::Downstream;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::{
    ServerConfig,
    crypto::ring::Ticketer,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
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
        let (tls, authority) = tls()?;
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

/// TLS for 127.0.0.1 as the case's own upstream offers it, and the authority behind it.
fn tls() -> anyhow::Result<(TlsAcceptor, String)> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?;
    let issuer = Issuer::new(params, key);

    let key = KeyPair::generate()?;
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .context("the certificate cannot be used")?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ticketer = Ticketer::new()?;
    Ok((TlsAcceptor::from(Arc::new(config)), authority.pem()))
}

struct Tls {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    /// One handshake after the other, which is enough for one visitor.
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

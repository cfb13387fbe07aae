//! Connections with TLS where the target asks for it.
//!
//! Only the generator's own loops over plain TCP have to be as fast as possible. They dial
//! [`Tcp`](super::Tcp) instead, whose stream has a type of its own.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context as _, ensure};
use lab_protocol::Target;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        self, ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
    },
};

use super::{Dial, Tcp, http::IN_HTTP2};

/// How `rustls` names the fault of a certificate that may only sign others. `openssl req -x509` makes one.
const OF_AN_AUTHORITY: &str = "CaUsedAsEndEntity";
/// How long a handshake may take to show what a server speaks.
const HANDSHAKE: Duration = Duration::from_secs(2);
/// The alert of a server that accepts none of the protocols it is offered.
const NOT_THIS_PROTOCOL: &str = "NoApplicationProtocol";
const FOR_A_SERVER: &str = "no TLS: the server shows the certificate of an authority, which may only sign others\n  \
     `openssl req -x509` makes one for a server with `-addext basicConstraints=critical,CA:FALSE` and \
     `-addext subjectAltName=IP:127.0.0.1`";

/// Dials a target over TCP, or over TLS if it has a name for that.
#[derive(Clone)]
pub struct Net {
    tcp: Tcp,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

pub trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

impl Net {
    /// Connections to this target, with TLS if the target asks for it.
    ///
    /// # Errors
    ///
    /// If the target's name is no host name, or if the system has no usable certificates.
    pub fn to(target: &Target) -> anyhow::Result<Self> {
        let tls = match &target.tls {
            None => None,
            Some(name) => {
                let server = ServerName::try_from(name.clone());
                let server = server.with_context(|| format!("`{name}` is no host name"))?;
                Some((trusting(rustls_native_certs::load_native_certs().certs)?, server))
            }
        };
        Ok(Self { tcp: Tcp { address: target.address, quick_ack: false }, tls })
    }
}

impl Dial for Net {
    type Stream = Box<dyn Stream>;

    async fn dial(&self) -> io::Result<Self::Stream> {
        let stream = self.tcp.dial().await?;
        let Some((connector, name)) = &self.tls else { return Ok(Box::new(stream)) };
        let explained = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData if error.to_string().contains(OF_AN_AUTHORITY) => {
                io::Error::other(FOR_A_SERVER)
            }
            io::ErrorKind::InvalidData if error.to_string().contains(NOT_THIS_PROTOCOL) => {
                io::Error::other(IN_HTTP2)
            }
            io::ErrorKind::InvalidData => io::Error::other(format!(
                "no TLS: {error} (without TLS, use http://; SSL_CERT_FILE names authorities to trust)"
            )),
            _ => error,
        };
        Ok(Box::new(connector.connect(name.clone(), stream).await.map_err(explained)?))
    }
}

/// Whether a server takes part in a handshake, even if its certificate is not trusted here.
pub async fn speaks_tls(address: SocketAddr) -> bool {
    let handshake = async {
        let connector = with_roots(RootCertStore::empty()).ok()?;
        let stream = TcpStream::connect(address).await.ok()?;
        let name = ServerName::from(address.ip());
        Some(connector.connect(name, stream).await.err()?.downcast::<rustls::Error>())
    };
    // No certificate is trusted without authorities.
    let error = timeout(HANDSHAKE, handshake).await;
    matches!(
        error,
        Ok(Some(Ok(rustls::Error::InvalidCertificate(_) | rustls::Error::AlertReceived(_))))
    )
}

fn trusting(authorities: Vec<CertificateDer<'static>>) -> anyhow::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities);
    ensure!(!roots.is_empty(), "no certificate authority is known here: set SSL_CERT_FILE");
    with_roots(roots)
}

fn with_roots(roots: RootCertStore) -> anyhow::Result<TlsConnector> {
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };
    use tokio_rustls::{
        TlsAcceptor,
        rustls::{ServerConfig, pki_types::PrivatePkcs8KeyDer},
    };

    use super::*;
    use crate::{PATIENCE, Visitor};
    use lab_protocol::{Answer, Request};

    /// More than the buffers of a socket hold.
    const BODY: usize = 8 << 20;

    /// Reads a request until its last byte, `!`, from each connection, and answers with `6`.
    async fn serve(listener: TcpListener, tls: TlsAcceptor) -> io::Result<()> {
        loop {
            let Ok(mut stream) = tls.accept(listener.accept().await?.0).await else { continue };
            let (mut piece, mut read) = (vec![0; 1 << 16], 0);
            while !piece[..read].ends_with(b"!") {
                read = stream.read(&mut piece).await?;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6").await?;
            stream.flush().await?;
        }
    }

    /// Starts a server with a certificate of its own, for an authority or for a server.
    async fn start(is_ca: IsCa) -> (SocketAddr, CertificateDer<'static>) {
        let mut issued = CertificateParams::new(["localhost".to_owned()]).unwrap();
        issued.is_ca = is_ca;
        let key = KeyPair::generate().unwrap();
        let certificate = issued.self_signed(&key).unwrap().der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let config = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, Arc::new(config).into()));
        (address, certificate)
    }

    #[tokio::test]
    async fn tls_is_recognized_without_trust() {
        let (address, _) = start(IsCa::NoCa).await;
        assert!(speaks_tls(address).await);
    }

    #[tokio::test]
    async fn what_is_not_tls_is_not_taken_for_it() {
        let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = plain.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = plain.accept().await {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        assert!(!speaks_tls(address).await);
    }

    async fn visitor(
        address: SocketAddr,
        trusted: CertificateDer<'static>,
        request: &Request,
    ) -> anyhow::Result<Visitor<Net>> {
        let tls = Some((trusting(vec![trusted])?, ServerName::try_from("localhost")?));
        let net = Net { tcp: Tcp { address, quick_ack: false }, tls };
        Visitor::over(net, &address.into(), std::slice::from_ref(request), PATIENCE).await
    }

    #[tokio::test]
    async fn the_certificate_of_an_authority_is_an_error_with_one_that_works() {
        let (address, certificate) = start(IsCa::Ca(BasicConstraints::Unconstrained)).await;
        let refused = visitor(address, certificate, &Request::get("/", Answer::Any)).await;
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("basicConstraints=critical,CA:FALSE"), "{error}");
    }

    #[tokio::test]
    async fn a_large_request_is_answered_over_tls() {
        let (address, certificate) = start(IsCa::NoCa).await;
        let body = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(body.path(), "x".repeat(BODY) + "!").unwrap();
        let request = Request {
            method: "POST".to_owned(),
            body: Some(body.path().to_owned()),
            ..Request::get("/", Answer::Text("6".to_owned()))
        };
        visitor(address, certificate, &request).await.unwrap().visit().await.unwrap();
    }

    #[tokio::test]
    async fn a_stranger_is_refused() {
        let (address, _) = start(IsCa::NoCa).await;
        let request = Request::get("/", Answer::Text("6".to_owned()));
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let refused = visitor(address, other.cert.der().clone(), &request).await;
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("SSL_CERT_FILE"), "{error}");
    }
}

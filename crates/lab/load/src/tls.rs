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

const NO_HTTP2: &str = "the server speaks no HTTP/2 over TLS: leave out --http 2";
/// The names of HTTP/1.1 and HTTP/2 in a handshake.
const HTTP_1_1: &[u8] = b"http/1.1";
const HTTP_2: &[u8] = b"h2";

/// Dials a target over TCP, or over TLS if it has a name for that.
#[derive(Clone)]
pub struct Net {
    tcp: Tcp,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    in_http2: bool,
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
        let in_http2 = target.http2.is_some();
        let tls = match &target.tls {
            None => None,
            Some(name) => {
                let server = ServerName::try_from(name.clone());
                let server = server.with_context(|| format!("`{name}` is no host name"))?;
                let authorities = rustls_native_certs::load_native_certs().certs;
                Some((trusting(authorities, in_http2)?, server))
            }
        };
        Ok(Self { tcp: Tcp { address: target.address, quick_ack: false }, tls, in_http2 })
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
                io::Error::other(if self.in_http2 { NO_HTTP2 } else { IN_HTTP2 })
            }
            io::ErrorKind::InvalidData => io::Error::other(format!(
                "no TLS: {error} (without TLS, use http://; SSL_CERT_FILE names authorities to trust)"
            )),
            _ => error,
        };
        let stream = connector.connect(name.clone(), stream).await.map_err(explained)?;
        // A server that chooses none of the protocols speaks HTTP/1.1.
        if self.in_http2 && stream.get_ref().1.alpn_protocol() != Some(HTTP_2) {
            return Err(io::Error::other(NO_HTTP2));
        }
        Ok(Box::new(stream))
    }
}

/// Whether a server takes part in a handshake, even if its certificate is not trusted here.
pub async fn speaks_tls(address: SocketAddr) -> bool {
    let handshake = async {
        let connector = with_roots(RootCertStore::empty(), HTTP_1_1).ok()?;
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

/// Offers one protocol: a server that speaks both would choose by its own taste.
fn trusting(
    authorities: Vec<CertificateDer<'static>>,
    in_http2: bool,
) -> anyhow::Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities);
    ensure!(!roots.is_empty(), "no certificate authority is known here: set SSL_CERT_FILE");
    with_roots(roots, if in_http2 { HTTP_2 } else { HTTP_1_1 })
}

fn with_roots(roots: RootCertStore, protocol: &[u8]) -> anyhow::Result<TlsConnector> {
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
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
    use lab_protocol::{Answer, Http2, Request};

    /// More than the buffers of a socket hold.
    const BODY: usize = 8 << 20;

    /// Reads a request until its last byte, `!`, from each connection, and answers with `6`. In HTTP/2, it answers without
    /// reading.
    async fn serve(listener: TcpListener, tls: TlsAcceptor) -> io::Result<()> {
        loop {
            let Ok(mut stream) = tls.accept(listener.accept().await?.0).await else { continue };
            if stream.get_ref().1.alpn_protocol() == Some(HTTP_2) {
                tokio::spawn(serve_http2(stream));
                continue;
            }
            let (mut piece, mut read) = (vec![0; 1 << 16], 0);
            while !piece[..read].ends_with(b"!") {
                read = stream.read(&mut piece).await?;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6").await?;
            stream.flush().await?;
        }
    }

    async fn serve_http2(stream: impl Stream) {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let mut body = respond.send_response(::http::Response::new(()), false).unwrap();
            body.send_data(bytes::Bytes::from_static(b"6"), true).unwrap();
        }
    }

    /// Starts a server with a certificate of its own, for an authority or for a server.
    async fn start(is_ca: IsCa) -> (SocketAddr, CertificateDer<'static>) {
        start_speaking(&[], is_ca).await
    }

    /// A server that accepts these protocols; if there is none, any.
    async fn start_speaking(
        protocols: &[&[u8]],
        is_ca: IsCa,
    ) -> (SocketAddr, CertificateDer<'static>) {
        let mut issued = CertificateParams::new(["localhost".to_owned()]).unwrap();
        issued.is_ca = is_ca;
        let key = KeyPair::generate().unwrap();
        let certificate = issued.self_signed(&key).unwrap().der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
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
        visitor_in(None, address, trusted, request).await
    }

    async fn visitor_in(
        http2: Option<Http2>,
        address: SocketAddr,
        trusted: CertificateDer<'static>,
        request: &Request,
    ) -> anyhow::Result<Visitor<Net>> {
        let in_http2 = http2.is_some();
        let tls = Some((trusting(vec![trusted], in_http2)?, ServerName::try_from("localhost")?));
        let net = Net { tcp: Tcp { address, quick_ack: false }, tls, in_http2 };
        let target = Target { http2, ..address.into() };
        Visitor::over(net, &target, std::slice::from_ref(request), PATIENCE).await
    }

    #[tokio::test]
    async fn the_handshake_says_whether_a_server_speaks_the_protocol_that_is_asked_for() {
        let body = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(body.path(), "!").unwrap();
        let request = Request {
            method: "POST".to_owned(),
            body: Some(body.path().to_owned()),
            ..Request::get("/", Answer::Text("6".to_owned()))
        };
        let http2 = Some(Http2::default());
        for (protocols, in_http1, in_http2) in [
            (&[HTTP_1_1, HTTP_2][..], Ok(()), Ok(())),
            (&[HTTP_2, HTTP_1_1], Ok(()), Ok(())),
            (&[HTTP_2], Err(IN_HTTP2), Ok(())),
            (&[HTTP_1_1], Ok(()), Err(NO_HTTP2)),
            (&[], Ok(()), Err(NO_HTTP2)),
        ] {
            let (address, trusted) = start_speaking(protocols, IsCa::NoCa).await;
            for (asked, wanted) in [(None, in_http1), (http2, in_http2)] {
                let visit = async {
                    let visitor = visitor_in(asked, address, trusted.clone(), &request).await;
                    visitor.map_err(|error| error.to_string())?.visit().await.unwrap();
                    Ok::<_, String>(())
                };
                let found = tokio::task::LocalSet::new().run_until(visit).await;
                assert_eq!(found, wanted.map_err(str::to_owned), "{protocols:?} {asked:?}");
            }
        }
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

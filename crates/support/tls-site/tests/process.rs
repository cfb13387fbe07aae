//! The site as a process: what it announces, what it counts, what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use tls_site::{Background, bundle};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// The answers to `GET` for `paths` over TLS, on one connection that trusts `authorities`, a PEM.
async fn ask(url: &str, host: &str, authorities: &str, paths: &[&str]) -> Vec<String> {
    let mut roots = RootCertStore::empty();
    let authorities = CertificateDer::pem_slice_iter(authorities.as_bytes());
    roots.add_parsable_certificates(authorities.map(Result::unwrap));
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(url.strip_prefix("https://").unwrap()).await.unwrap();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = TlsConnector::from(std::sync::Arc::new(config)).connect(name, stream).await;
    exchange(stream.unwrap(), host, paths).await
}

/// The answers to `GET` for `paths` in plain HTTP, on one connection.
async fn ask_plainly(url: &str, paths: &[&str]) -> Vec<String> {
    let stream = TcpStream::connect(url.strip_prefix("https://").unwrap()).await.unwrap();
    exchange(stream, "127.0.0.1", paths).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    host: &str,
    paths: &[&str],
) -> Vec<String> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut answers = Vec::new();
    for path in paths {
        let request = Request::get(*path).header("host", host).body(Empty::<Bytes>::new());
        let answer = sender.send_request(request.unwrap()).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        answers.push(String::from_utf8(body.into()).unwrap());
    }
    answers
}

#[tokio::test]
async fn reading_the_counters_changes_nothing() {
    let site = Background::start().unwrap();
    let nothing = "{\"tcp_connections\":0,\"full_handshakes\":0,\"resumed_handshakes\":0,\
                   \"requests\":0}\n";
    let counters = |paths| ask_plainly(site.url(), paths);
    assert_eq!(counters(&["/counters", "/counters"]).await, [nothing, nothing]);
    let paths = ["/", "/css/core.css"];
    ask(site.url(), "localhost", site.authority(), &paths).await;
    let one_visit = nothing
        .replace("connections\":0", "connections\":1")
        .replace("full_handshakes\":0", "full_handshakes\":1")
        .replace("requests\":0", "requests\":2");
    assert_eq!(counters(&["/counters"]).await, [&*one_visit]);
    assert_eq!(counters(&["/counters"]).await, [&*one_visit]);
}

#[tokio::test]
async fn the_site_itself_is_not_served_without_tls() {
    let site = Background::start().unwrap();
    let [answer] = &ask_plainly(site.url(), &["/"]).await[..] else { panic!("one answer") };
    assert_eq!(answer, "use HTTPS; plain HTTP is for /counters only\n");
}

#[tokio::test]
async fn the_process_announces_itself_and_leaves_nothing_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let mut site = Command::new(env!("CARGO_BIN_EXE_tls-site"))
        .env("TMPDIR", scratch.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(site.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening on ").unwrap();

    let directory = scratch.path().join(format!("tls-site-{}", site.id()));
    let file = bundle::file(&directory);
    let authorities = std::fs::read_to_string(&file).unwrap();
    let page = ask(url, "127.0.0.1", &authorities, &["/"]).await.remove(0);
    assert_eq!(page.len(), 14_000);

    let pid = site.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    assert!(site.wait().unwrap().success());
    let mut help = String::new();
    stdout.read_to_string(&mut help).unwrap();
    let command = format!(
        "SSL_CERT_FILE={} SSL_CERT_DIR={} \
         cargo run --release --bin per-request-client-slow -- --upstream {url}\n",
        file.display(),
        directory.display(),
    );
    assert!(help.contains(&command), "{help}");
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0);
}

#[test]
fn an_address_beyond_the_loopback_is_refused() {
    let site = Command::new(env!("CARGO_BIN_EXE_tls-site"))
        .args(["--addr", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert!(!site.status.success());
    assert!(String::from_utf8_lossy(&site.stderr).contains("127.0.0.1"), "{site:?}");
}

/// How many certificates a proxy loads from these, and errors.
fn loaded(file: Option<&Path>, directory: Option<&Path>) -> (usize, usize) {
    let found = rustls_native_certs::load_certs_from_paths(file, directory);
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    (added, ignored + found.errors.len())
}

/// The chapter says how many files and bytes there are, and that a directory and a file have the same authorities.
#[test]
fn the_authorities_are_as_many_and_as_large_as_those_of_debian() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("certs");
    let site = Background::start().unwrap();
    // A second time, in place of what a site that was killed has left.
    for _ in 0..2 {
        bundle::write(&directory, site.authority()).unwrap();
    }
    let file = bundle::file(&directory);
    let all = usize::from(bundle::AUTHORITIES);
    let (file, directory) = (Some(&*file), Some(&*directory));
    for (file, directory) in [(file, directory), (file, None), (None, directory)] {
        assert_eq!(loaded(file, directory), (all, 0), "{file:?}, {directory:?}");
    }
    let bytes = file.unwrap().metadata().unwrap().len();
    assert!((218_000..222_000).contains(&bytes), "{bytes}");
    #[cfg(unix)]
    assert_eq!(directory.unwrap().read_dir().unwrap().count(), 2 * all + 1);
}

//! Requests outside a measurement: finding the server, waiting until it is ready, and reading what it reports.

use std::{future::Future, io::Error, net::SocketAddr, time::Duration};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_protocol::{Answer, Http2, Request, Target};
use lab_system::without_secrets;
use tokio::{net::TcpStream, time::timeout};

use super::{
    Fetched, Visitor,
    http::{IN_HTTP2, WEBSOCKET},
};

/// How long an answer or a connection may take outside a measurement.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How the message begins when patience is over.
pub const NO_ANSWER: &str = "no answer within";
/// How long a host may take to accept a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// Looks up the host in a URL, and takes the first of its addresses that accepts a connection.
///
/// # Errors
///
/// If the URL has no `http` or `https`, host or valid port, if it has credentials, or if no address accepts a
/// connection in time.
pub async fn resolve(url: &Uri) -> anyhow::Result<Target> {
    let shown = without_secrets(&url.to_string());
    let (usual, is_tls) = match url.scheme_str() {
        Some("http") => (80, false),
        Some("https") => (443, true),
        Some("ws" | "wss") => bail!("`{shown}` is {WEBSOCKET}"),
        _ => bail!("`{shown}` must start with http:// or https://"),
    };
    let authority = url.authority().with_context(|| format!("`{shown}` names no server"))?;
    ensure!(!authority.as_str().contains('@'), "give the credentials in `{shown}` with --header");
    let name = authority.host().trim_matches(['[', ']']);
    // A port that isn't one is no port for this type, and another server may listen on the usual one.
    let port = match (authority.as_str().strip_prefix(authority.host()), authority.port_u16()) {
        (Some(""), _) => usual,
        (_, Some(port)) if port > 0 => port,
        _ => bail!("`{shown}` names no port from 1 to 65535"),
    };
    let stream = timeout(CONNECT_PATIENCE, TcpStream::connect((name, port))).await;
    let stream = stream.map_err(Error::from).flatten();
    let address = stream.with_context(|| format!("cannot connect to {shown}"))?.peer_addr()?;
    let (host, tls) = (authority.to_string(), is_tls.then(|| name.to_owned()));
    Ok(Target { address, host, tls, http2: None })
}

/// The address in a URL such as `http://127.0.0.1:8080/`.
///
/// # Errors
///
/// If the URL has no IP address and port.
pub fn address(url: &Uri) -> anyhow::Result<SocketAddr> {
    let authority = url.authority().with_context(|| format!("`{url}` names no server"))?;
    authority
        .as_str()
        .parse()
        .with_context(|| format!("`{authority}` is not an IP address and port"))
}

/// The answer to a GET of `path`, on a connection of its own.
///
/// # Errors
///
/// If the server cannot be reached, or if no complete answer comes in time.
pub async fn get(target: SocketAddr, path: &str) -> anyhow::Result<Fetched> {
    let mut visitor = Visitor::open(target, &[Request::get(path, Answer::Any)]).await?;
    Ok(visitor.answers().await?.remove(0))
}

/// The text that a server answers to a GET of `path`.
///
/// # Errors
///
/// If no complete answer comes in time, or if its status isn't 200.
pub async fn get_text(url: &Uri, path: &str) -> anyhow::Result<String> {
    let answer = within(Some(PATIENCE), get(address(url)?, path)).await;
    let Fetched { status, body, .. } = answer.with_context(|| format!("cannot read {path}"))?;
    let text = String::from_utf8_lossy(&body).into_owned();
    ensure!(status == 200, "GET {path}: status {status}: {}", text.trim());
    Ok(text)
}

/// Whether an attempt in HTTP/1.1 failed because the server speaks only HTTP/2.
pub fn needs_http2(error: &anyhow::Error) -> bool {
    format!("{error:#}").contains(IN_HTTP2)
}

/// Waits so long until `target` accepts a connection and, if a path is given, answers a GET of it with success, in
/// HTTP/1.1 or HTTP/2.
///
/// # Errors
///
/// Why it is not ready.
pub async fn is_ready(
    target: SocketAddr,
    path: Option<&str>,
    patience: Duration,
) -> anyhow::Result<()> {
    let requests: Vec<_> = path.map(|path| Request::get(path, Answer::Any)).into_iter().collect();
    let asked = async |http2| {
        let target = Target { http2, ..target.into() };
        Visitor::open_within(target, &requests, patience).await?.answers().await
    };
    let answers = match asked(None).await {
        Err(error) if needs_http2(&error) => asked(Some(Http2::default())).await,
        answers => answers,
    };
    for Fetched { status, .. } in answers? {
        ensure!((200..300).contains(&status), "GET {}: status {status}", requests[0].path);
    }
    Ok(())
}

/// Patience is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfPatience(pub Duration);

impl std::fmt::Display for OutOfPatience {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{NO_ANSWER} {} s", self.0.as_secs_f64())
    }
}

impl std::error::Error for OutOfPatience {}

/// Waits for an answer, but not for ever unless there is no limit.
pub(super) async fn within<T>(
    patience: Option<Duration>,
    answer: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let Some(patience) = patience else { return answer.await };
    let answer = timeout(patience, answer).await;
    answer.map_err(|_| OutOfPatience(patience))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_url_is_an_address_a_host_and_a_name_for_the_certificate() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for (scheme, name, tls) in [("http", "127.0.0.1", None), ("https", "localhost", Some(()))] {
            let host = format!("{name}:{}", address.port());
            let url = format!("{scheme}://{host}/users").parse().unwrap();
            let tls = tls.map(|()| name.to_owned());
            assert_eq!(resolve(&url).await.unwrap(), Target { address, host, tls, http2: None });
        }
        drop(listener);
        let url = format!("http://{address}/").parse().unwrap();
        let error = resolve(&url).await.unwrap_err().to_string();
        assert_eq!(error, format!("cannot connect to http://{address}/"));
        for port in ["99999", "0", "x", ""] {
            let url = format!("http://127.0.0.1:{port}/").parse::<Uri>();
            let Ok(url) = url else { continue };
            let error = resolve(&url).await.unwrap_err().to_string();
            assert!(error.ends_with("names no port from 1 to 65535"), "{error}");
        }
        for url in [
            "http://me:hunter2@host/",
            "ftp://host/?token=hunter2",
            "https://host:1/?pwd=hunter2",
            "wss://host/?key=hunter2",
        ] {
            let error = resolve(&url.parse().unwrap()).await.unwrap_err().to_string();
            assert!(error.contains('…') && !error.contains("hunter2"), "{error}");
        }
    }
}

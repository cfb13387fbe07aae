//! One request on a connection of its own, outside any measurement: to see whether a server is
//! ready, and what it answers.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Uri, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

use super::{Ask, address};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a server that may not be ready yet may take.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);

/// The status and the body of the answer to `ask`.
///
/// # Errors
///
/// If there is none, or the request is not one.
pub async fn fetch(target: SocketAddr, ask: &Ask) -> anyhow::Result<(u16, Bytes)> {
    let body = match &ask.body {
        Some(file) => {
            std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?
        }
        None => Vec::new(),
    };
    let mut request = Request::builder().method(ask.method.as_str()).uri(&ask.path);
    for (name, value) in &ask.headers {
        request = request.header(name, value);
    }
    let what = format!("{} {}", ask.method, ask.path);
    let request =
        request.body(Full::from(body)).with_context(|| format!("`{what}` is no HTTP request"))?;
    timeout(PATIENCE, exchange(target, request))
        .await
        .with_context(|| format!("no answer to {what} within {} s", PATIENCE.as_secs()))?
        .with_context(|| format!("no answer to {what}"))
}

/// The status and the body of the answer to a GET of `path`, which may take as long as `patience`.
///
/// # Errors
///
/// If there is none by then.
pub async fn get(
    target: SocketAddr,
    path: &str,
    patience: Duration,
) -> anyhow::Result<(u16, Bytes)> {
    let request = Request::get(path).body(Full::default());
    let request = request.with_context(|| format!("`{path}` is no path"))?;
    timeout(patience, exchange(target, request))
        .await
        .with_context(|| format!("no answer within {} s", patience.as_secs()))?
        .context("no answer")
}

/// The text that a server answers to a GET of `path` in plain HTTP; any other status is an error.
pub async fn get_text(url: &Uri, path: &str) -> anyhow::Result<String> {
    let answer = get(address(url)?, path, PATIENCE).await;
    let (status, body) = answer.with_context(|| format!("GET {path}"))?;
    let text = String::from_utf8_lossy(&body).into_owned();
    ensure!(status == 200, "GET {path} is answered with status {status}: {}", text.trim());
    Ok(text)
}

/// Whether `target` accepts a connection and, if a path is given, answers a GET of it with success.
pub async fn is_ready(target: SocketAddr, path: Option<&str>) -> bool {
    let look = async {
        let Some(path) = path else { return TcpStream::connect(target).await.is_ok() };
        let Ok(request) = Request::get(path).body(Full::default()) else { return false };
        exchange(target, request).await.is_ok_and(|(status, _)| (200..300).contains(&status))
    };
    timeout(SHORT_PATIENCE, look).await.unwrap_or(false)
}

async fn exchange(
    target: SocketAddr,
    mut request: Request<Full<Bytes>>,
) -> anyhow::Result<(u16, Bytes)> {
    let stream = TcpStream::connect(target).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    if !request.headers().contains_key(header::HOST) {
        request.headers_mut().insert(header::HOST, target.to_string().parse()?);
    }
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    Ok((status, response.into_body().collect().await?.to_bytes()))
}

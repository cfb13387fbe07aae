//! Single requests outside any measurement: is the server ready, and what does it report?

use std::{future::Future, net::SocketAddr, time::Duration};

use anyhow::{Context as _, ensure};
use http::Uri;
use lab_model::{Answer, Ask};
use tokio::time::timeout;

use super::{Connection, Fetched, Prepared, address};

/// How long an answer or a connection may take outside a measurement.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How long a server that may not be ready yet may take.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);

/// The answer to a GET of `path`, on a connection of its own.
pub async fn get(target: SocketAddr, path: &str) -> anyhow::Result<Fetched> {
    let request = Prepared::new(&Ask::get(path, Answer::Any), target)?;
    Connection::open(target).await?.fetch(&request).await
}

/// The text that a server answers to a GET of `path`. Any status but 200 is an error.
pub async fn get_text(url: &Uri, path: &str) -> anyhow::Result<String> {
    let answer = within(Some(PATIENCE), get(address(url)?, path)).await;
    let Fetched { status, body, .. } = answer.with_context(|| format!("cannot read {path}"))?;
    let text = String::from_utf8_lossy(&body).into_owned();
    ensure!(status == 200, "GET {path}: status {status}: {}", text.trim());
    Ok(text)
}

/// Whether `target` accepts a connection and, if a path is given, answers a GET of it with success.
pub async fn is_ready(target: SocketAddr, path: Option<&str>) -> bool {
    let Some(path) = path else {
        return within(Some(SHORT_PATIENCE), Connection::open(target)).await.is_ok();
    };
    let answer = within(Some(SHORT_PATIENCE), get(target, path)).await;
    answer.is_ok_and(|answer| (200..300).contains(&answer.status))
}

/// Waits for an answer, but not for ever unless there is no limit.
pub(super) async fn within<T>(
    patience: Option<Duration>,
    answer: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let Some(patience) = patience else { return answer.await };
    let answer = timeout(patience, answer).await;
    answer.ok().with_context(|| format!("no answer within {} s", patience.as_secs()))?
}

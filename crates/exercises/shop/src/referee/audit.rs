//! What has to be true of the shop after a run.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, ensure};
use axum::body::Bytes;
use serde::Deserialize;
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::data;

/// What was answered rightly, and in time or not.
#[derive(Deserialize)]
pub struct Answered {
    requests: u64,
    stock_reads: u64,
    references: Vec<String>,
}

#[derive(Deserialize)]
struct Counters {
    reads: u64,
}

/// What answers don't show.
pub async fn audit(answered: &Answered, stock: &str, dir: &Path) -> anyhow::Result<()> {
    let log = dir.join(data::LOG);
    let lines =
        fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let lines = lines.lines().filter(|line| is_log_line(line)).count() as u64;
    ensure!(
        lines >= answered.requests,
        "{} requests were answered, and {} has {lines} lines such as `2026-11-26T15:56:23Z GET /basket 200 1.5ms`",
        answered.requests,
        data::LOG
    );

    let counters: Counters = serde_json::from_str(&ask(stock, "/counters").await?)?;
    ensure!(
        counters.reads >= answered.stock_reads,
        "{} pages said how much there is of a product, and the stock service was asked {} times",
        answered.stock_reads,
        counters.reads
    );
    let reserved: Vec<String> = serde_json::from_str(&ask(stock, "/reservations").await?)?;
    let missing = answered.references.iter().find(|it| !it.is_empty() && !reserved.contains(it));
    ensure!(
        missing.is_none(),
        "the order {} was taken, but nothing is reserved for it",
        missing.unwrap_or(&String::new())
    );

    let options = SqliteConnectOptions::new().filename(dir.join(data::DATABASE)).read_only(true);
    let mut database = SqliteConnection::connect_with(&options).await?;
    let strong = format!("$argon2id$v=19$m={},t={},p=1$%", data::MEMORY_KIB, data::PASSES);
    let (weak,): (u32,) =
        sqlx::query_as("SELECT COUNT(*) FROM customers WHERE password NOT LIKE ?")
            .bind(strong)
            .fetch_one(&mut database)
            .await?;
    ensure!(weak == 0, "the hashes of {weak} passwords cost less than they did");
    Ok(())
}

/// When, method, path, status, duration.
fn is_log_line(line: &str) -> bool {
    let parts: Vec<_> = line.split(' ').collect();
    parts.len() == 5 && parts[2].starts_with('/') && parts[3].len() == 3 && parts[4].ends_with("ms")
}

/// The answer of the stock service to a `GET`.
#[expect(clippy::disallowed_methods, reason = "it asks twice in a run")]
async fn ask(stock: &str, path: &str) -> anyhow::Result<String> {
    use http_body_util::{BodyExt as _, Empty};
    use hyper_util::{client::legacy::Client, rt::TokioExecutor};
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let answer = tokio::time::timeout(
        Duration::from_secs(10),
        client.get(format!("{stock}{path}").parse()?),
    );
    let body = answer.await??.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.into())?)
}

//! Counting a server that is not ours: all that can be seen from outside are its system calls.

use anyhow::Context as _;

use super::system_calls::SystemCalls;
use crate::{
    launch::Launch,
    load::{self, Ask, Connection, Prepared, Tcp, Verdict},
    server::Stage,
};

/// Visits before anything counts.
const WARM_UP: u32 = 20;
/// Visits that count.
const VISITS: u32 = 100;

/// System calls of a server for one visit, asked over one connection, one request at a time: the
/// mean of many.
///
/// # Errors
///
/// If they cannot be counted here, or an answer is wrong.
pub async fn system_calls(launch: &Launch, asks: &[Ask]) -> anyhow::Result<f64> {
    let stage = Stage::set(launch).await?;
    let target = load::address(stage.server.url())?;
    let page = asks.iter().map(|ask| Prepared::new(ask, target)).collect::<Result<Vec<_>, _>>()?;
    let mut connection = Connection::open(target).await?;
    for _ in 0..WARM_UP {
        visit(&mut connection, &page).await?;
    }
    let mut calls = SystemCalls::attach(stage.server.studied_pid()?).await?;
    calls.begin().await?;
    for _ in 0..VISITS {
        visit(&mut connection, &page).await?;
    }
    calls.end().await?;
    stage.clear().await?;
    Ok(calls.total().await? as f64 / f64::from(VISITS))
}

async fn visit(connection: &mut Connection<Tcp>, page: &[Prepared]) -> anyhow::Result<()> {
    for request in page {
        match connection.ask(request).await {
            Verdict::Ok => {}
            Verdict::Wrong(fault) | Verdict::Failed(fault) => {
                return Err(anyhow::anyhow!(fault)).context("while system calls were counted");
            }
        }
    }
    Ok(())
}

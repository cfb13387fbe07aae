//! One user's visit: a page, loaded as a browser does.

use std::{cell::RefCell, time::Duration};

use anyhow::Context as _;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::{Connection, Dial, Prepared, Verdict};

/// How many connections are opened before the server gets time to accept them. A backlog that
/// overflows (128 in many servers) drops connections silently, and each is only tried again after
/// a second.
const OPENED_AT_ONCE: usize = 64;
/// How long the server gets.
const TIME_TO_ACCEPT: Duration = Duration::from_millis(2);

/// Opens all connections of all users, before the first request is sent.
pub async fn open_all<D: Dial + Clone>(
    dial: &D,
    users: usize,
    connections: usize,
) -> anyhow::Result<Vec<Vec<Connection<D>>>> {
    let wanted = users * connections;
    let mut opened = Vec::with_capacity(wanted);
    while opened.len() < wanted {
        let number = opened.len() + 1;
        let connection = Connection::over(dial.clone()).await;
        opened.push(connection.with_context(|| format!("connection {number} of {wanted}"))?);
        if number.is_multiple_of(OPENED_AT_ONCE) {
            sleep(TIME_TO_ACCEPT).await;
        }
    }
    let mut opened = opened.into_iter();
    Ok((0..users).map(|_| opened.by_ref().take(connections).collect()).collect())
}

/// Loads a page: the first request alone, the others over all connections. The page is as good as
/// the worst of its answers.
pub async fn visit<D: Dial>(connections: &mut [Connection<D>], page: &[Prepared]) -> Verdict {
    let Some((first, others)) = page.split_first() else { return Verdict::Ok };
    let verdict = connections[0].ask(first).await;
    if verdict != Verdict::Ok || others.is_empty() {
        return verdict;
    }
    let queue = RefCell::new(others.iter());
    let next = || queue.borrow_mut().next();
    let workers = connections.iter_mut().map(async |connection| {
        while let Some(request) = next() {
            match connection.ask(request).await {
                Verdict::Ok => {}
                fault => return fault,
            }
        }
        Verdict::Ok
    });
    let verdicts = join_all(workers).await;
    verdicts.into_iter().find(|one| *one != Verdict::Ok).unwrap_or(Verdict::Ok)
}

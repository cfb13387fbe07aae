//! The first gate: the fix answers as `slow` does.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use futures_util::future::try_join_all;
use lab_load::{Fetched, Visitor};
use lab_model::{Answer, Ask, Case, Change, Criteria, Expected};
use lab_servers::{Launch, Scratch, Session, answers};

use crate::{
    difference::{Found, difference, failure},
    draw::Draw,
};

/// How many users ask at once.
const AT_ONCE: usize = 4;
/// The length of a long query, in bytes. Servers take heads of 8 KiB and more.
const LONG: usize = 6_000;
/// The longest body that is compared as text, which says more about a difference than a checksum.
const LONGEST_TEXT: usize = 2_000;
/// How many changes may go unseen.
const MOST_CHANGES: usize = 1_000;

/// Asks both servers the same. A failure of `mine` is a difference, one of `slow` an error.
pub(super) async fn compare(
    slow: &Launch,
    mine: &Launch,
    case: &Case,
    criteria: &Criteria,
    draw: &mut Draw,
) -> anyhow::Result<Found> {
    let (usual, files) = (case.asks(), Scratch::new()?);
    // First, because each change was seen on a fresh server.
    let mut several = changes(slow, &criteria.state, draw).await?;
    several.extend(odd(&usual, criteria, &files, draw)?);
    let asked = async {
        at_once(mine, &usual).await?;
        // Twice from one server: what a request leaves behind may change the next answer.
        answers(mine, &several, Duration::ZERO, false).await
    };
    let found = match asked.await {
        Ok(found) => found.concat(),
        Err(error) => return failure(error).map(Err),
    };
    let right = answers(slow, &several, Duration::ZERO, false).await?.concat();
    for ((ask, found), right) in several.iter().cycle().zip(&found).zip(&right) {
        if let Some([found, right]) = difference(found, right) {
            let path: String = ask.path.chars().take(60).collect();
            return Ok(Err([format!("{} {path}: {found}", ask.method), right]));
        }
    }
    Ok(Ok(format!("{} answers as slow gives them", AT_ONCE * usual.len() + found.len())))
}

/// These requests, each with the answer that `slow` gives to it.
pub(super) async fn learned(slow: &Launch, mut asks: Vec<Ask>) -> anyhow::Result<Vec<Ask>> {
    let [right, _] = answers(slow, &asks, Duration::ZERO, false).await?;
    asks.iter_mut().zip(right).for_each(|(ask, right)| ask.expected = expected(right));
    Ok(asks)
}

/// What an answer must be to be the same as this one.
pub(super) fn expected(right: Fetched) -> Expected {
    let (bytes, crc32) = (right.body.len() as u64, crc32fast::hash(&right.body));
    let answer = match String::from_utf8(right.body) {
        Ok(text) if text.len() <= LONGEST_TEXT => Answer::Text(text),
        _ => Answer::Digest { bytes, crc32 },
    };
    Expected { status: right.status, answer }
}

/// Several users ask what the case asks, all at the same time.
async fn at_once(mine: &Launch, asks: &[Ask]) -> anyhow::Result<()> {
    Session::ask(mine, async |Session { server, .. }| {
        let visit = async || anyhow::Ok(Visitor::open(server.target(), asks).await?.visit().await?);
        try_join_all((0..AT_ONCE).map(|_| visit())).await
    })
    .await?;
    Ok(())
}

/// Asks, changes something, and asks again, until the answer of `slow` is another one; for each of these
/// changes. So an answer that was kept is wrong in every check, and not only if the draw happens to hit it.
async fn changes(slow: &Launch, state: &[Change], draw: &mut Draw) -> anyhow::Result<Vec<Ask>> {
    if state.is_empty() {
        return Ok(Vec::new());
    }
    Session::with(slow, async |Session { server, .. }| {
        let shown = async |ask: &Ask| {
            let asks = std::slice::from_ref(ask);
            anyhow::Ok(Visitor::open(server.target(), asks).await?.answers().await?.remove(0).body)
        };
        let mut several = Vec::new();
        for Change { get, change } in state {
            let get = draw.ask(get, Path::new(""))?;
            let before = shown(&get).await?;
            several.push(get.clone());
            for nth in 0.. {
                let change = draw.ask(change, Path::new(""))?;
                shown(&change).await?;
                several.push(change.clone());
                if shown(&get).await? != before {
                    break;
                }
                if nth == MOST_CHANGES {
                    bail!("`state`: `{}` changes no answer to `{}`", change.path, get.path);
                }
            }
            several.push(get);
        }
        Ok(several)
    })
    .await
}

/// The case's own odd requests, and those that any service gets.
fn odd(
    usual: &[Ask],
    criteria: &Criteria,
    files: &Scratch,
    draw: &mut Draw,
) -> anyhow::Result<Vec<Ask>> {
    let body = files.path().join("body");
    fs::write(&body, "x".repeat(4_000)).context("cannot write a body")?;
    let path = usual.first().map_or("/", |ask| ask.path.as_str());
    let bare = path.split('?').next().unwrap_or_default();
    let of_any = [
        format!("GET {bare}?unknown={}", "x".repeat(LONG)),
        format!("GET {bare}?%00=%FF&=&&"),
        "GET /no/such/route".to_owned(),
        format!("HEAD {path}"),
        format!("DELETE {path}"),
        format!("POST {path}"),
    ];
    criteria.odd.iter().chain(&of_any).map(|line| draw.ask(line, &body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &[u8]) -> Fetched {
        let mut answer = Fetched::default();
        (answer.status, answer.body) = (status, body.to_owned());
        answer
    }

    #[test]
    fn an_answer_of_any_size_is_expected_byte_for_byte() {
        for body in [&b"6"[..], b"\xfe", &[b'x'; LONGEST_TEXT + 1]] {
            let right = expected(answer(200, body));
            assert_eq!(right.mismatch(200, body), None);
            assert!(right.mismatch(200, &[body, b"x"].concat()).is_some());
        }
    }
}

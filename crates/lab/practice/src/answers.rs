//! The first gate: the fix answers as `slow` does.

use std::{fs, path::Path, time::Duration};

use anyhow::Context as _;
use futures_util::future::try_join_all;
use lab_load::Visitor;
use lab_measure::bench::asks;
use lab_model::{Answer, Ask, Case, Criteria};
use lab_servers::{Launch, Scratch, Stage, answers};
use lab_stats::SplitMix64;

use crate::{
    check::Found,
    difference::{difference, failure},
};

/// How many users ask at once.
const AT_ONCE: usize = 4;
/// The length of a long query, in bytes. Servers take heads of 8 KiB and more.
const LONG: usize = 6_000;

/// Asks both servers the same. A failure of `mine` is a difference, one of `slow` an error.
pub(super) async fn compare(
    slow: &Launch,
    mine: &Launch,
    case: &Case,
    criteria: &Criteria,
    seed: u64,
) -> anyhow::Result<Found> {
    let (usual, files) = (asks(case), Scratch::new()?);
    let odd = odd(&usual, criteria, &files, seed)?;
    let asked = async {
        at_once(mine, &usual).await?;
        // Twice from one server: what a request leaves behind may change the next answer.
        answers(mine, &odd, Duration::ZERO, false).await
    };
    let found = match asked.await {
        Ok(found) => found.concat(),
        Err(error) => return Ok(Err(failure(&error))),
    };
    let right = answers(slow, &odd, Duration::ZERO, false).await?.concat();
    for ((ask, found), right) in odd.iter().cycle().zip(&found).zip(&right) {
        if let Some([found, right]) = difference(found, right) {
            let path: String = ask.path.chars().take(60).collect();
            return Ok(Err([format!("{} {path}: {found}", ask.method), right]));
        }
    }
    Ok(Ok(format!("{} answers as slow gives them", AT_ONCE * usual.len() + found.len())))
}

/// Several users ask what the case asks, all at the same time.
async fn at_once(mine: &Launch, asks: &[Ask]) -> anyhow::Result<()> {
    let mut stage = Stage::set(mine).await?;
    let target = stage.server.target();
    let visit = async || anyhow::Ok(Visitor::open(target.clone(), asks).await?.visit().await?);
    stage.ask(try_join_all((0..AT_ONCE).map(|_| visit()))).await?;
    stage.clear().await
}

/// The case's own odd requests, and those that any service gets.
fn odd(usual: &[Ask], criteria: &Criteria, files: &Scratch, seed: u64) -> anyhow::Result<Vec<Ask>> {
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
    let mut random = SplitMix64(seed);
    let filled = |line: &String| ask(&fill(line, &mut random)?, &body);
    criteria.odd.iter().chain(&of_any).map(filled).collect()
}

/// The request of a line such as `GET /read`. A `POST` has this file as its body.
pub(super) fn ask(line: &str, body: &Path) -> anyhow::Result<Ask> {
    let (method, path) = line.split_once(' ').context("a request is METHOD PATH")?;
    let body = (method == "POST").then(|| body.to_owned());
    Ok(Ask { method: method.to_owned(), body, ..Ask::get(path, Answer::Any) })
}

/// Replaces each `{FROM..TO}` by a random number of this range, both ends included.
fn fill(text: &str, random: &mut SplitMix64) -> anyhow::Result<String> {
    let Some((before, rest)) = text.split_once('{') else { return Ok(text.to_owned()) };
    let (range, rest) = rest.split_once('}').context("a brace is not closed")?;
    let (from, to) = range.split_once("..").context("a range is FROM..TO")?;
    let (from, to): (u64, u64) = (from.parse()?, to.parse()?);
    let number = from + (random.uniform() * (1 + to.saturating_sub(from)) as f64) as u64;
    Ok(format!("{before}{number}{}", fill(rest, random)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_becomes_a_number_of_it() {
        let mut random = SplitMix64(7);
        let filled: Vec<_> = (0..99).map(|_| fill("{1..3}/{5..5}", &mut random).unwrap()).collect();
        assert!(filled.iter().all(|it| ["1/5", "2/5", "3/5"].contains(&it.as_str())), "{filled:?}");
        assert!(filled.iter().any(|it| *it != filled[0]));
        assert!(fill("{1", &mut random).is_err() && fill("{1}", &mut random).is_err());
    }
}

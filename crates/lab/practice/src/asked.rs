//! Requests with their answers: what a server gives to them, and what `slow` says that it should be.

use std::{fs, time::Duration};

use anyhow::bail;
use lab_cases::Change;
use lab_load::{Fetched, Visitor};
use lab_protocol::{Answer, Expected, Request};
use lab_report::translate;
use lab_servers::{Launch, Running, Server, answers};

use crate::{difference::difference, draw::Draw};

/// How many characters of a path or a body are shown.
const SHOWN: usize = 60;
/// The longest body that is compared as text, which says more about a difference than a checksum.
const LONGEST_TEXT: usize = 2_000;
/// How many changes may go unseen.
const MOST_CHANGES: usize = 1_000;

/// The only answer to a request.
pub(super) async fn answer(server: &Server, request: &Request) -> anyhow::Result<Fetched> {
    let requests = std::slice::from_ref(request);
    Ok(Visitor::open(server.target(), requests).await?.answers().await?.remove(0))
}

/// These requests, each with the answer that `slow` gives to it.
pub(super) async fn learned(
    slow: &Launch,
    mut requests: Vec<Request>,
) -> anyhow::Result<Vec<Request>> {
    let [right, _] = answers(slow, &requests, Duration::ZERO, false).await?;
    requests.iter_mut().zip(right).for_each(|(request, right)| request.expected = expected(right));
    Ok(requests)
}

/// The expectation that only this answer meets.
pub(super) fn expected(right: Fetched) -> Expected {
    let (bytes, crc32) = (right.body.len() as u64, crc32fast::hash(&right.body));
    let answer = match String::from_utf8(right.body) {
        Ok(text) if text.len() <= LONGEST_TEXT => Answer::Text(text),
        _ => Answer::Digest { bytes, crc32 },
    };
    Expected::new(right.status, answer)
}

/// Asks, changes something, and asks again, until the answer of `slow` is another one; for each of these
/// changes. So an answer that was kept is wrong in every check, and not only if the draw happens to hit it.
pub(super) async fn changes(
    slow: &Launch,
    state: &[Change],
    draw: &mut Draw,
) -> anyhow::Result<Vec<Request>> {
    if state.is_empty() {
        return Ok(Vec::new());
    }
    Running::with(slow, async |Running { server, .. }| {
        let shown = async |request: &Request| anyhow::Ok(answer(server, request).await?.body);
        let mut several = Vec::new();
        for Change { get, change } in state {
            let get = draw.ask(get)?;
            let before = shown(&get).await?;
            several.push(get.clone());
            for nth in 0.. {
                let change = draw.ask(change)?;
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

/// The first answer that isn't the right one, with the request; and with the one before, if that changed
/// something.
pub(super) fn first_difference<'a>(
    requests: impl Iterator<Item = &'a Request>,
    found: &[Fetched],
    right: &[Fetched],
) -> Option<[String; 2]> {
    let mut before: Option<&Request> = None;
    for ((request, found), right) in requests.zip(found).zip(right) {
        if let Some([found, right]) = difference(found, right) {
            let is_change = |other: &&Request| {
                other.method != request.method && !["GET", "HEAD"].contains(&other.method.as_str())
            };
            let request = request_line(request);
            let found = match before.filter(is_change).map(request_line) {
                Some(change) => {
                    translate!("{request}, after {change}: {found}", request, change, found)
                }
                None => translate!("{request}: {found}", request, found),
            };
            return Some([found, right]);
        }
        before = Some(request);
    }
    None
}

/// A request in a few words.
pub(super) fn request_line(request: &Request) -> String {
    let body = request.body.as_ref().and_then(|file| fs::read_to_string(file).ok());
    let [path, body] = [&request.path, &body.unwrap_or_default()]
        .map(|text| text.chars().take(SHOWN).collect::<String>());
    format!("{} {path} {body}", request.method).trim_end().to_owned()
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

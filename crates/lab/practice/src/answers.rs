//! The first gate: the fix answers as `slow` does.

use std::{fs, time::Duration};

use anyhow::bail;
use futures_util::future::try_join_all;
use lab_cases::{Case, Change, Criteria};
use lab_load::{Fetched, Visitor};
use lab_model::{Answer, Ask, Expected};
use lab_report::say;
use lab_servers::{Launch, Running, Server, answers};

use crate::{
    difference::{Found, difference, failure},
    draw::Draw,
    shared,
};

/// How many users ask at once.
const AT_ONCE: usize = 4;
/// How many characters of a path or a body are shown.
const SHOWN: usize = 60;
/// The length of a long query, in bytes. Servers take heads of 8 KiB and more.
const LONG: usize = 6_000;
/// The longest body that is compared as text, which says more about a difference than a checksum.
const LONGEST_TEXT: usize = 2_000;
/// How many changes may go unseen.
const MOST_CHANGES: usize = 1_000;

/// Asks both servers the same. A failure of `mine` is a difference, one of `slow` an error.
pub(super) async fn compare(
    [slow, mine]: [&Launch; 2],
    case: &Case,
    criteria: &Criteria,
    draw: &mut Draw,
) -> anyhow::Result<Found> {
    let usual = case.asks();
    // First, because each change was seen on a fresh server.
    let mut several = changes(slow, &criteria.state, draw).await?;
    several.extend(odd(&usual, criteria, draw)?);
    if let Err(error) = users_at_once(mine, &usual).await {
        let [found, needed] = failure(error)?;
        let found = say!("{users} users at the same time: {found}", users = AT_ONCE, found);
        return Ok(Err([found, needed]));
    }
    let mut count = AT_ONCE * usual.len();
    let mut same = async |slow: &Launch, mine: &Launch, asks: &[Ask]| {
        // Twice from one server: what a request leaves behind may change the next answer.
        let found = match answers(mine, asks, Duration::ZERO, false).await {
            Ok(found) => found.concat(),
            Err(error) => return failure(error).map(Some),
        };
        let right = answers(slow, asks, Duration::ZERO, false).await?.concat();
        count += found.len();
        Ok(first_difference(asks.iter().cycle(), &found, &right))
    };
    if let Some(different) = same(slow, mine, &several).await? {
        return Ok(Err(different));
    }
    for otherwise in &criteria.otherwise {
        let args = otherwise.args.iter().map(|arg| draw.fill(arg));
        let args = args.collect::<anyhow::Result<Vec<_>>>()?;
        let [slow, mine] = [slow, mine].map(|launch| {
            let mut launch = launch.clone();
            let dir = case.dir.display().to_string();
            let env =
                otherwise.env.iter().map(|(name, it)| (name.clone(), it.replace("{case}", &dir)));
            launch.env.extend(env);
            if !args.is_empty() {
                launch.args.clone_from(&args);
            }
            launch
        });
        let asks = draw.asks(&otherwise.odd)?;
        if let Some([found, right]) = same(&slow, &mine, &asks).await? {
            let how = &otherwise.what;
            return Ok(Err([say!("{how}, {found}", how, found), right]));
        }
    }
    if let Some(flag) = &criteria.shared
        && let Some(different) =
            shared::changed_elsewhere([slow, mine], flag, &criteria.state, draw).await?
    {
        return Ok(Err(different));
    }
    for at_once in &criteria.at_once {
        if let Some(different) = shared::afterwards([slow, mine], at_once, draw).await? {
            return Ok(Err(different));
        }
        count += at_once.times * shared::USERS + at_once.meanwhile.len() + 1;
    }
    Ok(Ok(say!("{count} answers as slow gives them", count)))
}

/// The first answer that isn't the right one, with the request; and with the one before, if that changed
/// something.
pub(super) fn first_difference<'a>(
    asks: impl Iterator<Item = &'a Ask>,
    found: &[Fetched],
    right: &[Fetched],
) -> Option<[String; 2]> {
    let mut before: Option<&Ask> = None;
    for ((ask, found), right) in asks.zip(found).zip(right) {
        if let Some([found, right]) = difference(found, right) {
            let is_change = |it: &&Ask| {
                it.method != ask.method && !["GET", "HEAD"].contains(&it.method.as_str())
            };
            let ask = request_line(ask);
            let found = match before.filter(is_change).map(request_line) {
                Some(change) => say!("{ask}, after {change}: {found}", ask, change, found),
                None => say!("{ask}: {found}", ask, found),
            };
            return Some([found, right]);
        }
        before = Some(ask);
    }
    None
}

/// A request in a few words.
pub(super) fn request_line(ask: &Ask) -> String {
    let body = ask.body.as_ref().and_then(|file| fs::read_to_string(file).ok());
    let [path, body] =
        [&ask.path, &body.unwrap_or_default()].map(|it| it.chars().take(SHOWN).collect::<String>());
    format!("{} {path} {body}", ask.method).trim_end().to_owned()
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
    Expected::new(right.status, answer)
}

/// Several users ask what the case asks, all at the same time.
async fn users_at_once(mine: &Launch, asks: &[Ask]) -> anyhow::Result<()> {
    Running::ask(mine, async |Running { server, .. }| {
        let visit = async || anyhow::Ok(Visitor::open(server.target(), asks).await?.visit().await?);
        try_join_all((0..AT_ONCE).map(|_| visit())).await
    })
    .await?;
    Ok(())
}

/// The only answer to a request.
pub(super) async fn answer(server: &Server, ask: &Ask) -> anyhow::Result<Fetched> {
    let asks = std::slice::from_ref(ask);
    Ok(Visitor::open(server.target(), asks).await?.answers().await?.remove(0))
}

/// Asks, changes something, and asks again, until the answer of `slow` is another one; for each of these
/// changes. So an answer that was kept is wrong in every check, and not only if the draw happens to hit it.
pub(super) async fn changes(
    slow: &Launch,
    state: &[Change],
    draw: &mut Draw,
) -> anyhow::Result<Vec<Ask>> {
    if state.is_empty() {
        return Ok(Vec::new());
    }
    Running::with(slow, async |Running { server, .. }| {
        let shown = async |ask: &Ask| anyhow::Ok(answer(server, ask).await?.body);
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

/// The case's own odd requests, and those that any service gets.
fn odd(usual: &[Ask], criteria: &Criteria, draw: &mut Draw) -> anyhow::Result<Vec<Ask>> {
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
    let mut asks = Vec::new();
    for line in criteria.odd.iter().chain(&of_any) {
        let mut ask = draw.ask(line)?;
        ask.headers.push(("x-trace".to_owned(), draw.fill("{1..1000000}")?));
        asks.push(ask);
    }
    Ok(asks)
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

//! The first gate, for what requests share: an answer may depend on what others asked or changed.

use std::{slice, time::Duration};

use futures_util::future::try_join_all;
use lab_cases::{AtOnce, Change};
use lab_load::{Fetched, Visitor};
use lab_protocol::Request;
use lab_report::translate;
use lab_servers::{Launch, Running, Scratch};
use tokio::time::sleep;

use crate::{
    asked::{answer, changes, first_difference, request_line},
    difference::{difference, failure},
    draw::Draw,
};

/// The number of users who ask at the same time. The server gets a worker thread for each, on any machine, so that no
/// user waits for another.
pub(super) const USERS: usize = 8;
/// How much later than the users another client asks.
const HEAD_START: Duration = Duration::from_millis(10);

/// Sends requests of several users at the same time, and compares the answer to a later request with the answers of
/// `slow`, which got the same requests one after the other. Returns how the answers differ, if they do.
pub(super) async fn afterwards(
    [slow, mine]: [&Launch; 2],
    at_once: &AtOnce,
    draw: &mut Draw,
) -> anyhow::Result<Option<[String; 2]>> {
    let lines = vec![at_once.users.clone(); at_once.times];
    let users = (0..USERS).map(|_| draw.requests(&lines));
    let users = users.collect::<anyhow::Result<Vec<_>>>()?;
    let meanwhile = draw.requests(&at_once.meanwhile)?;
    let get = draw.ask(&at_once.get)?;
    let right = right_answers(slow, &users, &meanwhile, &get).await?;
    let found = match answer_afterwards(mine, &users, &meanwhile, &get).await {
        Ok(found) => found,
        Err(error) => return failure(error).map(Some),
    };
    // An answer that equals one of the right answers is right.
    let different = right.iter().map(|right| difference(&found, right));
    let Some(different) = different.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let users = described(&users[0][0], &meanwhile);
    Ok(different.into_iter().next().map(|[found, right]| {
        let request = request_line(&get);
        [translate!("{request}, after {users}: {found}", request, users, found), right]
    }))
}

/// The answers of `slow` for each order in which these requests can come: `meanwhile` may come before, between or
/// after the users.
async fn right_answers(
    slow: &Launch,
    users: &[Vec<Request>],
    meanwhile: &[Request],
    get: &Request,
) -> anyhow::Result<Vec<Fetched>> {
    let mut right = Vec::new();
    for nth in 0..=meanwhile.len() {
        let (before, after) = meanwhile.split_at(nth);
        let several = [before, &users.concat(), after, slice::from_ref(get)].concat();
        let answers = Running::with(slow, async |Running { server, .. }| {
            Visitor::open(server.target(), &several).await?.answers().await
        });
        right.extend(answers.await?.pop());
    }
    Ok(right)
}

/// The answer of the reader's server after the users asked it at the same time.
async fn answer_afterwards(
    mine: &Launch,
    users: &[Vec<Request>],
    meanwhile: &[Request],
    get: &Request,
) -> anyhow::Result<Fetched> {
    let mut mine = mine.clone();
    mine.env.insert("TOKIO_WORKER_THREADS".to_owned(), USERS.to_string());
    let found = Running::ask(&mine, async |Running { server, .. }| {
        let user = async |requests: &[Request]| {
            Visitor::open(server.target(), requests).await?.answers().await.map(drop)
        };
        let between = async {
            // Until all users wait for their answers.
            sleep(HEAD_START).await;
            user(meanwhile).await
        };
        tokio::try_join!(try_join_all(users.iter().map(|requests| user(requests))), between)?;
        answer(server, get).await
    });
    found.await
}

/// `8 users sent POST /a at the same time, with POST /b meanwhile`
fn described(sent: &Request, meanwhile: &[Request]) -> String {
    let sent = request_line(sent);
    let users = translate!("{users} users sent {sent} at the same time", users = USERS, sent);
    match meanwhile {
        [] => users,
        [one] => translate!("{users}, with {other} meanwhile", users, other = request_line(one)),
        [first, ..] => translate!(
            "{users}, with {other} and more meanwhile",
            users,
            other = request_line(first)
        ),
    }
}

/// How the answers differ if a second server changes the data of the reader's, and the other way round.
pub(super) async fn changed_elsewhere(
    [slow, mine]: [&Launch; 2],
    [flag, value]: &[String; 2],
    state: &[Change],
    draw: &mut Draw,
) -> anyhow::Result<Option<[String; 2]>> {
    let mut requests = changes(slow, state, draw).await?;
    let of_others = requests.len();
    requests.extend(changes(slow, state, draw).await?);
    let right = Running::with(slow, async |Running { server, .. }| {
        Visitor::open(server.target(), &requests).await?.answers().await
    });
    let right = right.await?;
    let scratch = Scratch::new()?;
    let value = value.replace("{scratch}", &scratch.path().display().to_string());
    let [slow, mine] = [slow, mine].map(|launch| {
        let args = [&launch.args[..], &[flag.clone(), value.clone()]].concat();
        Launch { args, ..launch.clone() }
    });
    let found = Running::ask(&mine, async |Running { server: mine, .. }| {
        Running::with(&slow, async |Running { server: slow, .. }| {
            let mut found = Vec::new();
            for (nth, request) in requests.iter().enumerate() {
                // First the other server changes what the reader's shows, then the reader's what the other shows.
                let is_change = request.method != "GET";
                let of_mine = is_change != (nth < of_others);
                found.push(answer(if of_mine { mine } else { slow }, request).await?);
            }
            anyhow::Ok(found)
        })
        .await
    });
    let found = match found.await {
        Ok(found) => found,
        Err(error) => return failure(error).map(Some),
    };
    let different = first_difference(requests.iter(), &found, &right);
    Ok(different.map(|[found, right]| {
        [translate!("with a second server on the same data, {found}", found), right]
    }))
}

//! The first gate: the fix answers as `slow` does.

use std::time::Duration;

use futures_util::future::try_join_all;
use lab_cases::{Case, Criteria, MINE, Otherwise, SLOW};
use lab_load::Visitor;
use lab_protocol::Request;
use lab_report::translate;
use lab_servers::{Launch, Running, answers};

use crate::{
    asked::{changes, first_difference},
    difference::{Found, failure},
    draw::{Draw, Phase},
    servers::Servers,
    shared,
};

/// How many users ask at once.
const AT_ONCE: usize = 4;
/// The length of a long query, in bytes. Servers take heads of 8 KiB and more.
const LONG: usize = 6_000;

/// Asks both servers the same. A failure of `mine` is a difference, one of `slow` an error.
pub(super) async fn compare(
    servers: &Servers,
    case: &Case,
    criteria: &Criteria,
    seed: u64,
) -> anyhow::Result<Found> {
    let mut draw = Draw::of(seed, Phase::Answers)?;
    let (drawn, _) = draw.wait(case);
    let slow = servers.launch(&drawn, SLOW)?;
    let mine = Launch::of_case(servers.of_mine(criteria), &drawn, MINE)?;
    let usual = case.requests();
    // First, because each change was seen on a fresh server.
    let mut several = changes(&slow, &criteria.state, &mut draw).await?;
    several.extend(odd(&usual, criteria, &mut draw)?);
    if let Some(refused) = users_at_once(&mine, &usual).await? {
        return Ok(Err(refused));
    }
    if let Some(different) = difference_of([&slow, &mine], &several).await? {
        return Ok(Err(different));
    }
    // Each request is sent twice.
    let mut count = AT_ONCE * usual.len() + 2 * several.len();
    for otherwise in &criteria.otherwise {
        let requests = draw.requests(&otherwise.odd)?;
        let args = otherwise.args.iter().map(|arg| draw.fill(arg));
        let args: Vec<_> = args.collect();
        let [slow, mine] = [&slow, &mine].map(|launch| started(launch, case, otherwise, &args));
        if let Some([found, right]) = difference_of([&slow, &mine], &requests).await? {
            let how = &otherwise.what;
            return Ok(Err([translate!("{how}, {found}", how, found), right]));
        }
        count += 2 * requests.len();
    }
    if let Some(flag) = &criteria.shared
        && let Some(different) =
            shared::changed_elsewhere([&slow, &mine], flag, &criteria.state, &mut draw).await?
    {
        return Ok(Err(different));
    }
    for at_once in &criteria.at_once {
        if let Some(different) = shared::afterwards([&slow, &mine], at_once, &mut draw).await? {
            return Ok(Err(different));
        }
        count += at_once.times * shared::USERS + at_once.meanwhile.len() + 1;
    }
    Ok(Ok(translate!("{count} answers as slow gives them", count)))
}

/// How the answers to these requests differ. Each is sent twice to the same server: what a request leaves behind may
/// change the next answer.
async fn difference_of(
    [slow, mine]: [&Launch; 2],
    requests: &[Request],
) -> anyhow::Result<Option<[String; 2]>> {
    let found = match answers(mine, requests, Duration::ZERO, false).await {
        Ok(found) => found.concat(),
        Err(error) => return failure(error).map(Some),
    };
    let right = answers(slow, requests, Duration::ZERO, false).await?.concat();
    Ok(first_difference(requests.iter().cycle(), &found, &right))
}

/// A server that is started in another way.
fn started(launch: &Launch, case: &Case, otherwise: &Otherwise, args: &[String]) -> Launch {
    let mut launch = launch.clone();
    let dir = case.dir.display().to_string();
    for (name, value) in &otherwise.env {
        launch.env.insert(name.clone(), value.replace("{case}", &dir));
    }
    if !args.is_empty() {
        launch.args = args.to_vec();
    }
    launch
}

/// Several users ask what the case asks, all at the same time. What is wrong, if something is.
async fn users_at_once(mine: &Launch, requests: &[Request]) -> anyhow::Result<Option<[String; 2]>> {
    let asked = Running::ask(mine, async |Running { server, .. }| {
        let visit =
            async || anyhow::Ok(Visitor::open(server.target(), requests).await?.visit().await?);
        try_join_all((0..AT_ONCE).map(|_| visit())).await
    });
    let Err(error) = asked.await else { return Ok(None) };
    let [found, needed] = failure(error)?;
    Ok(Some([
        translate!("{users} users at the same time: {found}", users = AT_ONCE, found),
        needed,
    ]))
}

/// The case's own odd requests, and those that any service gets.
fn odd(usual: &[Request], criteria: &Criteria, draw: &mut Draw) -> anyhow::Result<Vec<Request>> {
    let path = usual.first().map_or("/", |request| request.path.as_str());
    let bare = path.split('?').next().unwrap_or_default();
    let of_any = [
        format!("GET {bare}?unknown={}", "x".repeat(LONG)),
        format!("GET {bare}?%00=%FF&=&&"),
        "GET /no/such/route".to_owned(),
        format!("HEAD {path}"),
        format!("DELETE {path}"),
        format!("POST {path}"),
    ];
    let mut requests = Vec::new();
    for line in criteria.odd.iter().chain(&of_any) {
        let mut request = draw.ask(line)?;
        request.headers.push(("x-trace".to_owned(), draw.fill("{1..1000000}")));
        requests.push(request);
    }
    Ok(requests)
}

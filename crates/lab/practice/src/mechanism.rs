//! The second gate: exact counts and orders, which no machine changes.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use lab_load::Visitor;
use lab_model::{BASELINE, Case, Criteria, MINE, Overrides, Overtaking, Request};
use lab_report::thousands;
use lab_servers::{Launch, Session};
use lab_session::count;
use lab_workspace::Workspace;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use crate::{
    answers::learned,
    difference::{Found, failure},
    draw::Draw,
    servers::Servers,
};

/// Has Tokio make one worker. With several, what each of them makes on first use, such as a thread-local, falls
/// into the counted visit or not as chance has it.
const ONE_WORKER: [&str; 2] = ["TOKIO_WORKER_THREADS", "1"];
/// How many users send the slow request, again and again.
const USERS: usize = 8;
/// The quick request doesn't wait for the slow ones if fewer of them than this are answered meanwhile. If it
/// queues with them, all users come first.
const MOST: usize = USERS / 2;
/// How many quick requests decide. A busy machine may delay one of them.
const MAJORITY: usize = 5;

/// Counts what the first visit to a fresh server costs, after the requests that set it up. The case may draw
/// the requests of that visit, so that no answer can be ready.
pub(super) async fn counts(
    servers: &Servers,
    counting: &Workspace,
    case: &Case,
    criteria: &Criteria,
    draw: &mut Draw,
) -> anyhow::Result<Found> {
    let (mut case, _) = draw.wait(case);
    let slow = servers.launch(&case, BASELINE)?;
    let before = learned(&slow, draw.asks(&criteria.before)?).await?;
    let drawn = learned(&slow, draw.asks(&criteria.counted)?).await?;
    let [name, value] = ONE_WORKER.map(str::to_owned);
    case.count.env.insert(name, value);
    let mut count = Overrides { warm_up: 0, visits: 1, ..case.count };
    if !drawn.is_empty() {
        count.requests = drawn.into_iter().map(|ask| Request { ask, rate_per_s: None }).collect();
    }
    let case = Case { count, ..case };
    let counts = match count::measure(counting, &case, MINE, &before).await {
        Ok((counts, _)) => counts,
        Err(error) => return failure(error).map(Err),
    };
    let visit = match &case.counted().asks()[..] {
        [one] => format!("`{} {}`", one.method, one.path),
        several => format!("{} requests", several.len()),
    };
    let (least, most) = (&criteria.at_least, &criteria.at_most);
    let (mut all, mut missed) = (Vec::new(), None);
    for name in most.keys().chain(least.keys().filter(|name| !most.contains_key(*name))) {
        let count = counts.exact.get(name).copied().unwrap_or_default();
        let words = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        let words = if count == 1 { one(&words) } else { words };
        let measured = format!("{} {words} in {visit}", thousands(count as f64));
        let number = |limit: &u64| thousands(*limit as f64);
        let (least, most) = (least.get(name), most.get(name));
        let needed = match (least, most) {
            (Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
            (Some(least), None) => format!("at least {}", number(least)),
            (None, most) => format!("at most {}", most.map(number).unwrap_or_default()),
        };
        if least.is_some_and(|it| count < *it) || most.is_some_and(|it| count > *it) {
            missed.get_or_insert((name, measured, needed));
        } else {
            all.push(format!("{measured} ({needed})"));
        }
    }
    let Some((name, measured, needed)) = missed else { return Ok(Ok(all.join("; "))) };
    // How far it is: what the fault costs, and how many limits are left.
    let (slow, _) = count::measure(counting, &case, BASELINE, &before).await?;
    let of_slow = thousands(slow.exact.get(name).copied().unwrap_or_default() as f64);
    let rest = all.iter().map(|met| format!("; enough: {met}")).collect::<String>();
    Ok(Err([format!("{measured}; slow: {of_slow}{rest}"), needed]))
}

/// The words of a count for one: `full handshakes` as `full handshake`.
fn one(words: &str) -> String {
    let singular = words.strip_suffix("hes").map(|stem| format!("{stem}h"));
    singular.unwrap_or_else(|| words.strip_suffix('s').unwrap_or(words).to_owned())
}

/// Users send slow requests again and again, and another one sends quick ones. One that queues with the slow
/// ones is answered after all users. So the order decides, and no time: the wait is the usual one, in which a
/// server can't recognise this gate.
pub(super) async fn overtaking(
    workspace: &Workspace,
    case: &Case,
    wanted: &Overtaking,
    draw: &mut Draw,
) -> anyhow::Result<Found> {
    let (case, wait) = draw.wait(case);
    let wait = wait.context("`overtaking` has a `wait`")?;
    let [slow, quick] = [&wanted.slow, &wanted.quick].map(|it| draw.asks(std::slice::from_ref(it)));
    let (slow, quick) = (slow?, quick?);
    let (answered, earliest, news) = (Cell::new(0), Cell::new(Duration::MAX), Notify::new());
    let overtakers = RefCell::new(Vec::new());
    let race = async |Session { server, .. }: &Session| {
        let user = async || -> anyhow::Result<()> {
            let mut visitor = Visitor::open(server.target(), &slow).await?;
            loop {
                let start = Instant::now();
                successful(&mut visitor).await?;
                earliest.set(earliest.get().min(start.elapsed()));
                answered.set(answered.get() + 1);
                news.notify_waiters();
            }
        };
        let hurried = async {
            let mut visitor = Visitor::open(server.target(), &quick).await?;
            let is_decided = || {
                let [free, held] = [false, true].map(|it| {
                    overtakers.borrow().iter().filter(|count| (**count > MOST) == it).count()
                });
                free.max(held) >= MAJORITY
            };
            while !is_decided() {
                // Users who were answered together ask together. Halfway to their next answers, none is due.
                news.notified().await;
                sleep(wait.time / 2).await;
                let before = answered.get();
                successful(&mut visitor).await?;
                overtakers.borrow_mut().push(answered.get() - before);
            }
            anyhow::Ok(())
        };
        tokio::select! {
            failed = try_join_all((0..USERS).map(|_| user())) => failed.map(drop),
            hurried = hurried => hurried,
        }
    };
    let launch = Launch::of_case(workspace, &case, MINE)?;
    if let Err(error) = Session::ask(&launch, race).await {
        return failure(error).map(Err);
    }
    if let Some(refused) = wait.refuse_early(earliest.get().as_secs_f64() * 1e3) {
        return Ok(Err(refused));
    }
    let mut counts = overtakers.into_inner();
    counts.sort_unstable();
    let median = counts[counts.len() / 2];
    let [slow, quick] = [&slow[0], &quick[0]].map(|ask| format!("`{} {}`", ask.method, ask.path));
    let measured = format!("{median} of {USERS} {slow} were answered before {quick}");
    let needed = format!("at most {MOST}");
    Ok(if median > MOST { Err([measured, needed]) } else { Ok(format!("{measured} ({needed})")) })
}

/// Fails if the only answer of a visit is no success.
async fn successful(visitor: &mut Visitor) -> anyhow::Result<()> {
    let answer = visitor.answers().await?.remove(0);
    ensure!((200..300).contains(&answer.status), "status {}", answer.status);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_of_a_count_has_its_own_word() {
        for (many, one) in [
            ("hashes", "hash"),
            ("allocations", "allocation"),
            ("tcp connections", "tcp connection"),
            ("bytes", "byte"),
        ] {
            assert_eq!(super::one(many), one);
        }
    }
}

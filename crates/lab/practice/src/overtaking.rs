//! The second gate, where no count shows what a request waits for: the order in which requests are answered.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use anyhow::ensure;
use futures_util::future::try_join_all;
use lab_cases::{Case, MINE, Overtaking, Workspace};
use lab_load::Visitor;
use lab_model::Ask;
use lab_report::say;
use lab_servers::{Launch, Running};
use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, sleep},
};

use crate::{
    counts::ONE_WORKER,
    difference::{Found, failure},
    draw::Draw,
};

/// How many users send the slow request, again and again.
const USERS: usize = 8;
/// The quick request doesn't wait for the slow ones if fewer of them than this are answered meanwhile. If it
/// queues with them, all users come first.
const MOST: usize = USERS / 2;
/// How many quick requests decide. A busy machine may delay one of them.
const MAJORITY: usize = 5;

/// Users send slow requests again and again, and another one sends quick ones. One that queues with the slow
/// ones is answered after all users. So the order decides, and no time: the wait is the usual one, in which a
/// server can't recognise this gate. If the slow requests don't wait but work, one worker serves them all, and the
/// quick one need wait for none.
pub(super) async fn overtaking(
    workspace: &Workspace,
    case: &Case,
    wanted: &Overtaking,
    draw: &mut Draw,
) -> anyhow::Result<Found> {
    let (case, wait) = draw.wait(case);
    let [slow, quick] = [&wanted.slow, &wanted.quick].map(|it| draw.ask(it));
    let (slow, quick) = ([slow?], [quick?]);
    // Work takes cores from a quick request, too, if others use them. That it waits has to be the rule.
    let (most, majority) = if wait.is_some() { (MOST, MAJORITY) } else { (0, 3 * MAJORITY) };
    let (answered, earliest, news) = (Cell::new(0), Cell::new(Duration::MAX), Notify::new());
    let overtakers = RefCell::new(Vec::new());
    let race = async |Running { server, .. }: &Running| {
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
                    overtakers.borrow().iter().filter(|count| (**count > most) == it).count()
                });
                free.max(held) >= majority
            };
            while !is_decided() {
                // Users who were answered together ask together. Halfway to their next answers, none is due.
                news.notified().await;
                sleep(wait.as_ref().map_or(earliest.get(), |wait| wait.time) / 2).await;
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
    let mut launch = Launch::of_case(workspace, &case, MINE)?;
    if wait.is_none() {
        launch.env.extend([ONE_WORKER.map(str::to_owned).into()]);
    }
    if let Err(error) = Running::ask(&launch, race).await {
        return failure(error).map(Err);
    }
    let early = wait.as_ref().and_then(|it| it.refuse_early(earliest.get().as_secs_f64() * 1e3));
    if let Some(refused) = early {
        return Ok(Err(refused));
    }
    let mut counts = overtakers.into_inner();
    counts.sort_unstable();
    let median = counts[counts.len() / 2];
    let names = [&slow[0], &quick[0]].map(|ask| format!("`{} {}`", ask.method, ask.path));
    let [of_slow, of_quick] = &names;
    let measured = say!(
        "{median} of {users} {of_slow} were answered before {of_quick}",
        median,
        users = USERS,
        of_slow,
        of_quick
    );
    let needed = say!("at most {most}", most);
    if median > most {
        return Ok(Err([measured, needed]));
    }
    if let Some(wait) = wait {
        let behind = Running::ask(&launch, async |running| {
            waits_behind(running, &slow, &quick, wait.time).await
        });
        let waits = match behind.await {
            Ok(waits) => waits,
            Err(error) => return failure(error).map(Err),
        };
        if waits > MOST as f64 {
            let measured = say!(
                "{users} {of_slow}, each sent after the answer to a {of_quick}, took as long as {waits} waits for \
                 {service}: what was answered at once isn't done before earlier requests end, and later ones wait for it",
                users = USERS,
                of_slow,
                of_quick,
                waits = format!("{waits:.1}"),
                service = wait.declared.of
            );
            let needed = say!("at most {most} waits, because they overlap", most = MOST);
            return Ok(Err([measured, needed]));
        }
    }
    Ok(Ok(say!("{measured} ({needed})", measured, needed)))
}

/// How many waits it takes until several slow requests are answered, each of which was sent after the answer to a
/// quick one. They overlap, unless the quick one left behind what they have to wait for. Of a few tries the one
/// that others disturbed least.
async fn waits_behind(
    Running { server, .. }: &Running,
    slow: &[Ask],
    quick: &[Ask],
    wait: Duration,
) -> anyhow::Result<f64> {
    let mut least = f64::MAX;
    for _ in 0..MAJORITY {
        let (start, sent) = (Instant::now(), Semaphore::new(0));
        let one = async || {
            let mut visitor = Visitor::open(server.target(), slow).await?;
            sent.acquire().await?.forget();
            successful(&mut visitor).await
        };
        let hurried = async {
            let mut visitor = Visitor::open(server.target(), quick).await?;
            for _ in 0..USERS {
                successful(&mut visitor).await?;
                sent.add_permits(1);
                // Until the slow one is sent.
                sleep(wait / USERS as u32).await;
            }
            anyhow::Ok(())
        };
        tokio::try_join!(try_join_all((0..USERS).map(|_| one())), hurried)?;
        least = least.min(start.elapsed().div_duration_f64(wait));
        if least <= MOST as f64 {
            break;
        }
    }
    Ok(least)
}

/// Fails if the only answer of a visit is no success.
async fn successful(visitor: &mut Visitor) -> anyhow::Result<()> {
    let answer = visitor.answers().await?.remove(0);
    ensure!((200..300).contains(&answer.status), "status {}", answer.status);
    Ok(())
}

//! The second gate: exact counts and orders, which no machine changes.

use std::{cell::Cell, path::Path, time::Duration};

use futures_util::future::select_all;
use lab_display::thousands;
use lab_load::Visitor;
use lab_measure::{bench::asks, count};
use lab_model::{BASELINE, Case, Criteria, MINE, Overrides, Overtaking, Workspace};
use lab_servers::{Launch, Stage};
use tokio::time::sleep;

use crate::{answers::ask, check::Found};

/// How many slow and how many quick requests are sent.
const EACH: usize = 8;
/// How long the server has to begin with the slow ones.
const HEAD_START: Duration = Duration::from_millis(300);

/// Counts what the first visit to a fresh server costs, after the requests that set it up. A later visit could be
/// answered from a cache.
pub(super) async fn counts(
    workspace: &Workspace,
    case: &Case,
    criteria: &Criteria,
) -> anyhow::Result<Found> {
    let count = Overrides { warm_up: 0, visits: 1, ..case.count.clone() };
    let case = Case { count, ..case.clone() };
    let before = criteria.before.iter().map(|line| ask(line, Path::new("")));
    let before = before.collect::<anyhow::Result<Vec<_>>>()?;
    let (counts, _) = count::measure(workspace, &case, MINE, &before).await?;
    let visit = match &asks(&case.counted())[..] {
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
    let (slow, _) = count::measure(workspace, &case, BASELINE, &before).await?;
    let of_slow = thousands(slow.exact.get(name).copied().unwrap_or_default() as f64);
    let rest = all.iter().map(|met| format!("; enough: {met}")).collect::<String>();
    Ok(Err([format!("{measured}; slow: {of_slow}{rest}"), needed]))
}

/// The words of a count for one: `full handshakes` as `full handshake`.
fn one(words: &str) -> String {
    let singular = words.strip_suffix("hes").map(|stem| format!("{stem}h"));
    singular.unwrap_or_else(|| words.strip_suffix('s').unwrap_or(words).to_owned())
}

/// Sends slow requests, and then quick ones until the first slow one is answered. The order of the answers
/// does not depend on the machine, because a slow one takes seconds.
pub(super) async fn overtaking(
    workspace: &Workspace,
    case: &Case,
    wanted: &Overtaking,
) -> anyhow::Result<Found> {
    let case = Case { args: wanted.args.clone(), ..case.clone() };
    let [slow, quick] = [&wanted.slow, &wanted.quick].map(|line| ask(line, Path::new("")));
    let (slow, quick) = ([slow?], [quick?]);
    let mut stage = Stage::set(&Launch::of_case(workspace, &case, MINE)?).await?;
    let target = stage.server.target();
    let answered = Cell::new(0);
    let one_slow = async || Visitor::open(target.clone(), &slow).await?.answers().await;
    let all_quick = async {
        sleep(HEAD_START).await;
        let mut visitor = Visitor::open(target.clone(), &quick).await?;
        while answered.get() < EACH {
            visitor.answers().await?;
            answered.set(answered.get() + 1);
        }
        anyhow::Ok(())
    };
    let first_slow = select_all((0..EACH).map(|_| Box::pin(one_slow())));
    let race = async {
        tokio::select! {
            first = first_slow => first.0.map(drop),
            quick = all_quick => quick,
        }
    };
    stage.ask(race).await?;
    stage.clear().await?;
    let (count, name) = (answered.get(), &wanted.quick);
    let measured =
        format!("{count} of {EACH} `{name}` were answered before the first `{}`", wanted.slow);
    Ok(if count == EACH { Ok(measured) } else { Err([measured, format!("all {EACH}")]) })
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

//! The second gate: exact counts, which no machine changes.

use lab_cases::{Case, Criteria, Limits, MINE, Overrides, SLOW, TimedRequest, Workspace};
use lab_measure::count;
use lab_protocol::Request;
use lab_report::{thousands, translate};

use crate::{
    asked::learned,
    difference::{Found, failure},
    draw::{Draw, Phase},
    servers::Servers,
};

/// Has Tokio make one worker. With several, what each of them makes on first use, such as a thread-local, falls
/// into the counted visit or not as chance has it.
pub(super) const ONE_WORKER: [&str; 2] = ["TOKIO_WORKER_THREADS", "1"];

/// Counts what a visit to a fresh server costs, after the requests that set it up; and what the same visit costs
/// afterwards. The case may draw the requests of that visit, so that no answer can be ready.
pub(super) async fn counts(
    servers: &Servers,
    case: &Case,
    criteria: &Criteria,
    seed: u64,
) -> anyhow::Result<Found> {
    let mut draw = Draw::of(seed, Phase::Counts)?;
    let counting = servers.of_mine(criteria);
    let (mut case, _) = draw.wait(case);
    let slow = servers.launch(&case, SLOW)?;
    let before = learned(&slow, draw.requests(&criteria.before)?).await?;
    let drawn = learned(&slow, draw.requests(&criteria.counted)?).await?;
    let [name, value] = ONE_WORKER.map(str::to_owned);
    case.count.env.insert(name, value);
    if !drawn.is_empty() {
        let request = |request| TimedRequest { request, rate_per_s: None };
        case.count.requests = drawn.into_iter().map(request).collect();
    }
    let nth_visit = async |nth: u32, limits: &Limits| {
        let count = Overrides { warm_up: nth, visits: 1, ..case.count.clone() };
        visit(counting, &Case { count, ..case.clone() }, &before, limits).await
    };
    let first = nth_visit(0, &criteria.first()).await?;
    let (Ok(met), Some(limits)) = (&first, &criteria.again) else { return Ok(first) };
    let again = nth_visit(1, limits).await?;
    let again = again.map(|_| translate!("{met}; also when it is visited again", met));
    Ok(again.map_err(|[measured, needed]| {
        [
            translate!("when it is visited again, {measured}", measured),
            translate!("{needed}, also the second time", needed),
        ]
    }))
}

/// Counts one visit of the reader's server, and compares it with the limits.
async fn visit(
    counting: &Workspace,
    case: &Case,
    before: &[Request],
    Limits { at_most: most, at_least: least }: &Limits,
) -> anyhow::Result<Found> {
    let counts = match count::measure(counting, case, MINE, before).await {
        Ok((counts, _)) => counts,
        Err(error) => return failure(error).map(Err),
    };
    let visit = match &case.counted().requests()[..] {
        [one] => format!("`{} {}`", one.method, one.path),
        several => translate!("{count} requests", count = several.len()),
    };
    let (mut all, mut missed) = (Vec::new(), None);
    for name in most.keys().chain(least.keys().filter(|name| !most.contains_key(*name))) {
        let count = counts.exact.get(name).copied().unwrap_or_default();
        let words = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
        let words = if count == 1 { one(&words) } else { words };
        let measured =
            translate!("{count} {words} in {visit}", count = thousands(count as f64), words, visit);
        let number = |limit: &u64| thousands(*limit as f64);
        let (least, most) = (least.get(name), most.get(name));
        let needed = match (least, most) {
            (Some(least), Some(most)) => {
                translate!("{least} to {most}", least = number(least), most = number(most))
            }
            (Some(least), None) => translate!("at least {least}", least = number(least)),
            (None, most) => {
                translate!("at most {most}", most = most.map(number).unwrap_or_default())
            }
        };
        if least.is_some_and(|limit| count < *limit) || most.is_some_and(|limit| count > *limit) {
            missed.get_or_insert((name, measured, needed));
        } else {
            all.push(translate!("{measured} ({needed})", measured, needed));
        }
    }
    let Some((name, measured, needed)) = missed else { return Ok(Ok(all.join("; "))) };
    // How far it is: what the fault costs, and how many limits are left.
    let (slow, _) = count::measure(counting, case, SLOW, before).await?;
    let of_slow = thousands(slow.exact.get(name).copied().unwrap_or_default() as f64);
    let mut found = translate!("{measured}; slow: {of_slow}", measured, of_slow);
    for met in all {
        found = translate!("{found}; enough: {met}", found, met);
    }
    Ok(Err([found, needed]))
}

/// The words of a count for one: `full handshakes` as `full handshake`.
fn one(words: &str) -> String {
    let singular = words.strip_suffix("hes").map(|stem| format!("{stem}h"));
    singular.unwrap_or_else(|| words.strip_suffix('s').unwrap_or(words).to_owned())
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

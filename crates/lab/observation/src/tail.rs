//! Why the slowest hundredth of random arrivals is slow: what the server did while they waited, and what they waited for
//! in its spans, next to the rest of the same run.

mod causes;
mod company;
mod held;
mod slowest;
mod spans;
mod windows;

use lab_protocol::{Outcome, VisitEnd, Visits};
use lab_stats::share_difference;
use serde::Serialize;

use super::ThreadStates;
pub use causes::Cause;
use causes::{ServerLooks, causes};
pub use company::Company;
use company::company;
pub use held::Held;
use held::held;
pub use slowest::SlowestRequests;
pub use spans::{SpanCause, SpanShare, SpanTail};
use windows::{LookGroups, Windows};

/// The slowest hundredth may all wait for the longest of several stalls: at too few different times to find a cause, or
/// to have one. Then it is the slowest fiftieth, or twentieth.
const SLOWEST: [usize; 3] = [100, 50, 20];
/// The slowest hundredth begins at this many times the median; else there is no tail.
const FACTOR: u64 = 3;
/// The looks at the threads miss most of what is shorter, in microseconds.
const SHORTEST_US: u64 = 5_000;
/// Fewer slow requests say little, and fewer requests have no slowest hundredth.
const FEWEST_SLOW: usize = 10;
const FEWEST: usize = 200;
/// Slow requests at fewer different times may have met a neighbour by chance.
const FEWEST_TIMES: usize = 3;
/// The least difference that is worth a word.
const LEAST: f64 = 0.3;
/// A cause that is further down in the list has to differ more than this part of a better one.
const NEARLY: f64 = 0.6;

/// The slowest requests, and why they are slow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tail {
    /// How many requests are slow, and of how many.
    pub slow: usize,
    pub of: usize,
    /// The latency of the fastest of them, and the median of all.
    pub from_ms: f64,
    pub median_ms: f64,
    /// At how many different times they came.
    pub times: usize,
    /// Who else waited; `None` if too few came meanwhile.
    pub company: Option<Company>,
    /// `None` if nothing differs for certain.
    pub difference: Option<TailDifference>,
    /// Whether something differs by as much as matters that may be chance, because there are so few times.
    pub may_differ: bool,
    /// If nothing differs and each waits alone.
    pub held: Option<Held>,
}

/// What was so at a larger share of the looks at the server while a slow request waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TailDifference {
    #[serde(flatten)]
    pub cause: Cause,
    /// The share of the looks while one of them waited, and of those while none did.
    pub slow_share: f64,
    pub other_share: f64,
    /// The interval of the difference.
    pub low: f64,
    pub high: f64,
}

impl Tail {
    /// `None` without a tail, with too few requests, or if the generator or the threads were not seen well enough.
    pub fn of(arrivals: &Outcome, threads: Option<&ThreadStates>) -> Option<Self> {
        if arrivals.invalid.is_some() {
            return None;
        }
        of_run(arrivals.visits.as_ref()?, threads?)
    }
}

fn of_run(visits: &Visits, threads: &ThreadStates) -> Option<Tail> {
    let rows = visits.due_us.iter().zip(&visits.latency_us).zip(&visits.answer);
    let answered = |answer: &VisitEnd| !matches!(answer, VisitEnd::Wrong | VisitEnd::Failed);
    let mut waits: Vec<_> = rows
        .filter(|(_, answer)| answered(answer))
        .map(|((due, latency), _)| (*due, due + latency))
        .collect();
    waits.sort_unstable();
    let mut latencies: Vec<_> = waits.iter().map(|(due, end)| end - due).collect();
    latencies.sort_unstable();
    if latencies.len() < FEWEST {
        return None;
    }
    let looks = ServerLooks::of(threads, visits.began_unix_us?);
    let found = SLOWEST.iter().filter_map(|one_in| of_slowest(&waits, &latencies, &looks, *one_in));
    let mut found: Vec<_> = found.collect();
    let is_explained = |tail: &Tail| tail.difference.is_some() || tail.held.is_some();
    let best = found.iter().position(is_explained).unwrap_or(0);
    (best < found.len()).then(|| found.swap_remove(best))
}

/// The tail of the slowest request in so many. `None` if that is not slow enough, or if they waited at too few different times.
fn of_slowest(
    waits: &[(u64, u64)],
    latencies: &[u64],
    looks: &ServerLooks,
    one_in: usize,
) -> Option<Tail> {
    let of = latencies.len();
    let (from_us, median_us) = (latencies[of - FEWEST_SLOW.max(of / one_in)], latencies[of / 2]);
    if from_us < SHORTEST_US || from_us < FACTOR * median_us {
        return None;
    }
    let Differences { times, strongest: difference, may_differ } =
        differences(&Windows::of(waits, from_us), looks);
    let company = company(waits, from_us);
    let is_alone = difference.is_none() && company == Some(Company::Alone);
    // Those that are nearly as slow hold threads, too.
    let nearly: Vec<_> =
        waits.iter().filter(|(due, end)| end - due >= from_us / 2).copied().collect();
    let held = is_alone.then(|| held(&nearly, looks)).flatten();
    (times >= FEWEST_TIMES || held.is_some()).then_some(Tail {
        slow: of - latencies.partition_point(|latency| *latency < from_us),
        of,
        from_ms: from_us as f64 / 1e3,
        median_ms: median_us as f64 / 1e3,
        times,
        company,
        may_differ: may_differ && difference.is_none(),
        difference,
        held,
    })
}

/// What differs while slow requests wait.
struct Differences {
    /// At how many different times the looks saw one wait.
    times: usize,
    strongest: Option<TailDifference>,
    may_differ: bool,
}

/// Slow requests come together, so that each time counts once. So does each tenth of a second in between.
fn differences(windows: &Windows, looks: &ServerLooks) -> Differences {
    let LookGroups { times, others } = windows.groups(&looks.at_us);
    if times.len() < FEWEST_TIMES || others.is_empty() {
        return Differences { times: times.len(), strongest: None, may_differ: false };
    }
    let difference = |(cause, shares): (Cause, Vec<f64>)| {
        let [slow, other] =
            [&times, &others].map(|groups| (mean(groups, &shares), groups.len() as f64));
        let [low, high] = share_difference(slow, other);
        let matters = slow.0 - other.0 >= LEAST;
        let found = TailDifference { cause, slow_share: slow.0, other_share: other.0, low, high };
        matters.then_some(found)
    };
    let found: Vec<_> = causes(looks).into_iter().filter_map(difference).collect();
    let (certain, may_be): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.low > 0.0);
    let may_differ = !may_be.is_empty();
    Differences { times: times.len(), strongest: strongest(certain), may_differ }
}

/// The mean over groups of looks, each of which counts once.
fn mean(groups: &[Vec<usize>], shares: &[f64]) -> f64 {
    let of_group = |group: &Vec<usize>| {
        group.iter().map(|look| shares[*look]).sum::<f64>() / group.len() as f64
    };
    groups.iter().map(of_group).sum::<f64>() / groups.len() as f64
}

/// The best cause of those that differ nearly as much as the one that differs most.
fn strongest(found: Vec<TailDifference>) -> Option<TailDifference> {
    let by = |one: &TailDifference| one.slow_share - one.other_share;
    let most = found.iter().map(by).fold(0.0, f64::max);
    let near = found.into_iter().filter(|one| by(one) >= NEARLY * most);
    near.min_by(|a, b| a.cause.rank().cmp(&b.cause.rank()).then(by(b).total_cmp(&by(a))))
}

#[cfg(test)]
mod tests;

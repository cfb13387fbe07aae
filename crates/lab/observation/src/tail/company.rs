//! Whether a slow request waits alone.

use serde::Serialize;

/// Who else waits while a slow request does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Company {
    /// Requests that came later were answered meanwhile.
    Alone,
    /// Nobody got an answer.
    Everyone,
    /// Those before it were answered, one after the other.
    Queue,
}

/// That of most slow requests, of those that came at their first time and were answered at their second one, in order.
/// `None` if it is not known of half of them.
pub fn company(waits: &[(u64, u64)], from_us: u64) -> Option<Company> {
    let mut ends: Vec<_> = waits.iter().map(|(_, end)| *end).collect();
    ends.sort_unstable();
    let slow: Vec<_> = waits.iter().filter(|(due, end)| end - due >= from_us).collect();
    let found: Vec<_> = slow.iter().filter_map(|wait| of_one(waits, &ends, **wait)).collect();
    let count = |company| found.iter().filter(|one| **one == company).count();
    let all = [Company::Alone, Company::Everyone, Company::Queue];
    let most = all.into_iter().max_by_key(|company| count(*company))?;
    (count(most) > 0 && 2 * count(most) >= slow.len()).then_some(most)
}

/// `None` if no other came in the first half of its wait.
fn of_one(waits: &[(u64, u64)], ends: &[u64], (due, end): (u64, u64)) -> Option<Company> {
    let quarter = (end - due) / 4;
    let first = waits.partition_point(|(other, _)| *other <= due);
    let later: Vec<_> =
        waits[first..].iter().take_while(|(other, _)| *other < due + 2 * quarter).collect();
    let overtakers = later.iter().filter(|(_, other)| *other < due + 3 * quarter).count();
    let next = ends.partition_point(|other| *other < due + quarter);
    let goes_on = ends.get(next).is_some_and(|other| *other < due + 3 * quarter);
    match later.len() {
        0 => None,
        later if 2 * overtakers >= later => Some(Company::Alone),
        _ if goes_on => Some(Company::Queue),
        _ => Some(Company::Everyone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arrival each millisecond of a second, and when each is answered.
    fn answered(end: impl Fn(u64) -> u64) -> Option<Company> {
        let waits: Vec<_> = (0..1_000).map(|ms| (1_000 * ms, 1_000 * end(ms) + 100)).collect();
        company(&waits, 20_000)
    }

    #[test]
    fn a_slow_request_waits_alone_or_with_everyone_or_in_a_queue() {
        let slow = answered(|due| if due % 100 == 0 { due + 30 } else { due });
        assert_eq!(slow, Some(Company::Alone));
        let stall = answered(|due| if (200..230).contains(&due) { 230 } else { due });
        assert_eq!(stall, Some(Company::Everyone));
        // It falls behind, and catches up.
        let queue = answered(|due| if due < 600 { due + due / 20 } else { due.max(630) });
        assert_eq!(queue, Some(Company::Queue));
        // Nobody else came.
        let waits: Vec<_> = (0..10).map(|nth| (100_000 * nth, 100_000 * nth + 30_000)).collect();
        assert_eq!(company(&waits, 20_000), None);
        assert_eq!(company(&[], 20_000), None);
    }
}

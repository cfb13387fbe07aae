//! Which requests of a record are drawn, and what is counted of the others.

use std::collections::BTreeMap;

use lab_observation::{Spans, TracedRequest};
use lab_protocol::Role;

use super::Kinds;

/// How many requests are drawn.
pub const ROWS: usize = 12;
/// The share of the window before the first row gets its turn, so that its wait is visible.
const LEAD: f64 = 0.04;

/// A window of a record: consecutive requests, and what else happened meanwhile.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// The start of the window, in microseconds of the record.
    pub begin_us: f64,
    /// The requests that are drawn, in the order of their turns.
    pub rows: Vec<TracedRequest>,
    /// How many requests, drawn or not, got their turn and were answered within the window.
    pub answered: usize,
    /// How many were at work at once, at most.
    pub at_once: usize,
    /// How many spans of each name were open at once, at most.
    pub parts_at_once: BTreeMap<String, usize>,
}

impl Excerpt {
    /// The excerpts of these records, and the length in microseconds of their common window.
    pub fn of_all(all: &[&Spans], kinds: &Kinds) -> (Vec<Self>, f64) {
        let rows = all.iter().map(|spans| {
            let requests = spans.requests(kinds);
            (consecutive(&requests), requests)
        });
        let rows: Vec<_> = rows.collect();
        let longest = rows.iter().map(|(rows, _)| extent(rows)).max().unwrap_or(0);
        let length = longest as f64 / (1.0 - LEAD);
        let excerpt = |(spans, (rows, requests)): (&&Spans, (_, Vec<_>))| {
            Self::new(spans, &requests, rows, length)
        };
        (all.iter().zip(rows).map(excerpt).collect(), length)
    }

    fn new(
        spans: &Spans,
        requests: &[TracedRequest],
        rows: Vec<TracedRequest>,
        length: f64,
    ) -> Self {
        let first = rows.first().map_or(0, TracedRequest::turn_us) as f64;
        let begin_us = first - LEAD * length;
        let end_us = begin_us + length;
        let until = |request: &TracedRequest| request.end_us.unwrap_or(spans.now_us) as f64;
        let open = |request: &&TracedRequest| {
            (request.start_us as f64) < end_us && until(request) > begin_us
        };
        let answered = |request: &&TracedRequest| {
            let end = request.end_us.is_some_and(|end| end as f64 <= end_us);
            end && request.turn_us() as f64 >= begin_us
        };
        Self {
            begin_us,
            answered: requests.iter().filter(answered).count(),
            at_once: most_at_once(requests.iter().filter(open).filter_map(at_work(spans.now_us))),
            parts_at_once: parts_at_once(requests.iter().filter(open)),
            rows,
        }
    }
}

/// Answered requests with consecutive turns, from a third of a record on: the window of the other
/// record may need the rest.
fn consecutive(requests: &[TracedRequest]) -> Vec<TracedRequest> {
    let mut answered: Vec<_> = requests.iter().filter(|request| request.end_us.is_some()).collect();
    answered.sort_by_key(|request| request.turn_us());
    let first = (answered.len() / 3).min(answered.len().saturating_sub(ROWS));
    answered.into_iter().skip(first).take(ROWS).cloned().collect()
}

/// From the first turn to the last answer.
fn extent(rows: &[TracedRequest]) -> u64 {
    let end = rows.iter().filter_map(|request| request.end_us).max();
    let begin = rows.first().map(TracedRequest::turn_us);
    end.zip(begin).map_or(0, |(end, begin)| end.saturating_sub(begin))
}

/// When a request was at work: from its first to its last wait downstream if it has any, else holding what
/// others wait for, else open at all.
fn at_work(now_us: u64) -> impl Fn(&TracedRequest) -> Option<(u64, u64)> {
    move |request| match request.first(Role::Downstream).or(request.first(Role::Held)) {
        Some(part) => {
            let same = request.parts.iter().filter(|it| it.role == part.role);
            Some((part.start_us, same.map(|it| it.end_us).max().unwrap_or(part.end_us)))
        }
        // It still waits for its turn.
        None if request.first(Role::Wait).is_some() => None,
        None => Some((request.start_us, request.end_us.unwrap_or(now_us))),
    }
}

fn parts_at_once<'a>(requests: impl Iterator<Item = &'a TracedRequest>) -> BTreeMap<String, usize> {
    let mut times: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for part in requests.flat_map(|request| &request.parts) {
        times.entry(&part.name).or_default().push((part.start_us, part.end_us));
    }
    times.into_iter().map(|(name, times)| (name.to_owned(), most_at_once(times))).collect()
}

/// How many of these times overlap, at most.
fn most_at_once(times: impl IntoIterator<Item = (u64, u64)>) -> usize {
    let turns = times.into_iter().flat_map(|(start, end)| [(start, 1), (end, -1)]);
    let mut turns: Vec<(u64, i32)> = turns.collect();
    // At the same microsecond, an end sorts before a start.
    turns.sort_unstable();
    let mut now = 0;
    let most = turns.into_iter().map(|(_, turn)| {
        now += turn;
        now
    });
    usize::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{fixed_spans, kinds, slow_spans};

    #[test]
    fn a_window_ends_before_its_record_does() {
        let fixed = fixed_spans();
        let (excerpts, length) = Excerpt::of_all(&[&slow_spans(), &fixed], &kinds());
        let excerpt = &excerpts[1];
        assert!(excerpt.begin_us + length <= fixed.now_us as f64);
    }
}

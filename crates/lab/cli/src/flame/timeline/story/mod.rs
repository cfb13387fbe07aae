//! Which requests of a record are drawn, and what is said of those that are not.

use super::super::spans::{Kind, Request, Spans};

/// How many requests are rows of the picture.
pub const ROWS: usize = 12;

/// The share of the window that lies before the first row gets to work, so that its wait is seen.
const LEAD: f64 = 0.04;

/// A window of a record: requests that got to work one after the other, and what else happened.
#[derive(Clone, Debug)]
pub struct Story {
    /// Where the window begins, in microseconds of the record.
    pub begin_us: f64,
    /// The requests that are drawn, in the order in which they got to work.
    pub rows: Vec<Request>,
    /// How many requests got to work and were answered within the window, drawn or not.
    pub answered: usize,
    /// How many were open at some time of the window and are not drawn.
    pub not_drawn: usize,
    /// How many were at work at once, at most.
    pub at_once: usize,
    /// Whether the record had no room for some, so that the numbers are lower bounds.
    pub incomplete: bool,
}

impl Story {
    /// The stories of two records, and the length of the window that both have, in microseconds.
    pub fn of_both(slow: &Spans, fixed: &Spans) -> (Self, Self, f64) {
        let records = [slow, fixed].map(|spans| (spans, spans.requests()));
        let rows = records.each_ref().map(|(_, requests)| consecutive(requests, u64::MAX));
        let length = |rows: &[Vec<Request>; 2]| {
            let longest = rows.iter().map(|rows| extent(rows)).max().unwrap_or_default();
            longest as f64 / (1.0 - LEAD)
        };
        // The record should not end before the window does, so that what is counted is all there is.
        let first = length(&rows);
        let rows = records.each_ref().map(|(spans, requests)| {
            consecutive(requests, spans.now_us.saturating_sub(first as u64))
        });
        let length = length(&rows);
        let [slow_rows, fixed_rows] = rows;
        let [(slow, slow_requests), (fixed, fixed_requests)] = &records;
        (
            Self::new(slow, slow_requests, slow_rows, length),
            Self::new(fixed, fixed_requests, fixed_rows, length),
            length,
        )
    }

    fn new(spans: &Spans, requests: &[Request], rows: Vec<Request>, length: f64) -> Self {
        let first = rows.first().map_or(0, Request::under_way_us) as f64;
        let begin_us = first - LEAD * length;
        let end_us = begin_us + length;
        let until = |request: &Request| request.end_us.unwrap_or(spans.now_us) as f64;
        let seen =
            |request: &&Request| (request.start_us as f64) < end_us && until(request) > begin_us;
        // One that was under way already is no row, though its answer comes within the window.
        let answered = |request: &&Request| {
            let end = request.end_us.is_some_and(|end| end as f64 <= end_us);
            end && request.under_way_us() as f64 >= begin_us
        };
        let open = requests.iter().filter(seen).count();
        Self {
            begin_us,
            answered: requests.iter().filter(answered).count(),
            not_drawn: open.saturating_sub(rows.len()),
            at_once: at_once(requests.iter().filter(seen), spans.now_us),
            incomplete: spans.dropped > 0,
            rows,
        }
    }
}

/// Requests from the middle of a record, where it has settled, that got to work one after the
/// other and were answered; none later than the latest begin, unless all are.
fn consecutive(requests: &[Request], latest_us: u64) -> Vec<Request> {
    let mut ended: Vec<_> = requests.iter().filter(|request| request.end_us.is_some()).collect();
    ended.sort_by_key(|request| request.under_way_us());
    let in_time = ended.partition_point(|request| request.under_way_us() <= latest_us);
    let first = (ended.len() / 2).min(in_time.saturating_sub(1));
    let first = first.min(ended.len().saturating_sub(ROWS));
    ended.into_iter().skip(first).take(ROWS).cloned().collect()
}

/// From when the first got to work until the last was answered.
fn extent(rows: &[Request]) -> u64 {
    let end = rows.iter().filter_map(|request| request.end_us).max();
    let begin = rows.first().map(Request::under_way_us);
    end.zip(begin).map_or(0, |(end, begin)| end.saturating_sub(begin))
}

/// How many requests were at work at the same time, at most: waiting for the other server if they
/// do that, else holding the lock, else there at all.
fn at_once<'a>(requests: impl Iterator<Item = &'a Request>, now_us: u64) -> usize {
    let mut turns: Vec<(u64, i32)> = requests
        .filter_map(|request| {
            let part = request.first(Kind::DownstreamWait).or(request.first(Kind::LockHeld));
            match part {
                Some(part) => Some((part.start_us, part.end_us)),
                // It still waits for the lock.
                None if !request.parts.is_empty() => None,
                None => Some((request.start_us, request.end_us.unwrap_or(now_us))),
            }
        })
        .flat_map(|(start, end)| [(start, 1), (end, -1)])
        .collect();
    // At the same microsecond one ends before the next begins.
    turns.sort_unstable();
    let mut now = 0;
    let most = turns.into_iter().map(|(_, turn)| {
        now += turn;
        now
    });
    usize::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests;

//! Records with numbers as the cases give them, made up for tests.

use std::{collections::BTreeMap, time::Duration};

use super::{
    connections::Sample,
    spans::{Kind, Span, Spans},
};

/// Numbers that look random and are always the same: from 0 to `below`, in thousandths.
fn jitter(of: u64, below: u64) -> u64 {
    (of.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % below
}

struct Record(Spans);

impl Record {
    fn span(&mut self, parent: Option<u64>, kind: Kind, start_us: u64, end_us: Option<u64>) -> u64 {
        let id = self.0.spans.len() as u64 + 1;
        self.0.spans.push(Span { id, parent, kind, start_us, end_us });
        id
    }
}

/// Ten seconds of lock-scope's slow server: 3,000 users in one queue.
pub fn slow_spans() -> Spans {
    let mut record = Record(Spans { now_us: 10_000_000, ..Spans::default() });
    let mut free_us = 2_000;
    for user in 0..3000 {
        let start = user * 166 + jitter(user, 100);
        let acquired = free_us.max(start);
        free_us = acquired + 50_900 + jitter(user, 700);
        let ended = |us: u64| Some(us).filter(|us| *us < 10_000_000);
        let request = record.span(None, Kind::Request, start, ended(free_us + 40));
        record.span(Some(request), Kind::LockWait, start + 20, ended(acquired));
        if ended(acquired).is_some() {
            record.span(Some(request), Kind::LockHeld, acquired, ended(free_us));
            let wait = (acquired + 5, ended(free_us - 15));
            record.span(Some(request), Kind::DownstreamWait, wait.0, wait.1);
        }
    }
    record.0
}

/// Two seconds of its fixed server under the same users.
pub fn fixed_spans() -> Spans {
    let mut record = Record(Spans { now_us: 2_000_000, ..Spans::default() });
    for count in 0..11_000 {
        let start = count * 184 + jitter(count, 150);
        let end = start + 50_950 + jitter(count, 900);
        let ended = |us: u64| Some(us).filter(|us| *us < 2_000_000);
        let request = record.span(None, Kind::Request, start, ended(end));
        record.span(Some(request), Kind::LockWait, start + 20, Some(start + 21));
        record.span(Some(request), Kind::LockHeld, start + 21, Some(start + 24));
        record.span(Some(request), Kind::DownstreamWait, start + 24, ended(end - 20));
    }
    record.0.spans.retain(|span| span.start_us < 2_000_000);
    record.0
}

/// Ten seconds of per-request-client, a sample every 250 ms.
pub fn connections() -> (Vec<Sample>, Vec<Sample>) {
    let at = |tick: u64| Duration::from_millis(250 * tick);
    let sample = |at, count| Sample { at, connections: count, handshakes: count };
    let slow =
        (0..=40).map(|tick| sample(at(tick), tick * 285 + jitter(tick, 40) * (tick % 40).min(1)));
    let fixed = (0..=40).map(|tick| sample(at(tick), 6 * tick.min(1)));
    (slow.collect(), fixed.collect())
}

/// What it does for a page.
pub fn counts() -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let counts = |connections: f64, resumed: f64, calls: f64| {
        BTreeMap::from([
            ("upstream.tcp_connections".to_owned(), connections),
            ("upstream.full_handshakes".to_owned(), connections),
            ("upstream.resumed_handshakes".to_owned(), resumed),
            ("system_calls".to_owned(), calls),
        ])
    };
    (counts(19.0, 0.0, 10_421.0), counts(0.1, 0.0, 412.0))
}

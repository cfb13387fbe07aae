//! Spans like those of a server with a lock, and threads, for tests.

use std::collections::BTreeMap;

use lab_model::{Role, SpanKind};

use lab_observation::{Span, Spans, State, Thread};

/// Numbers below `below` that look random and are always the same.
fn jitter(of: u64, below: u64) -> u64 {
    (of.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % below
}

struct Record(Spans);

impl Record {
    fn span(&mut self, parent: Option<u64>, name: &str, start_us: u64, end_us: Option<u64>) -> u64 {
        let id = self.0.spans.len() as u64 + 1;
        self.0.spans.push(Span { id, parent, name: name.to_owned(), start_us, end_us });
        id
    }
}

pub fn kinds() -> BTreeMap<String, SpanKind> {
    let kind = |name: &str, label: &str, role| {
        (name.to_owned(), SpanKind { label: label.to_owned(), role })
    };
    BTreeMap::from([
        kind("lock wait", "waits for the lock", Role::Wait),
        kind("lock held", "holds the lock", Role::Held),
        kind("downstream wait", "waits for another server", Role::Downstream),
    ])
}

/// Ten seconds of a server that holds its lock while it waits: 3,000 users in one queue.
pub fn slow_spans() -> Spans {
    let mut record = Record(Spans { now_us: 10_000_000, ..Spans::default() });
    let mut free_us = 2_000;
    for user in 0..3000 {
        let start = user * 166 + jitter(user, 100);
        let acquired = free_us.max(start);
        free_us = acquired + 50_900 + jitter(user, 700);
        let ended = |us: u64| Some(us).filter(|us| *us < 10_000_000);
        let request = record.span(None, "request", start, ended(free_us + 40));
        record.span(Some(request), "lock wait", start + 20, ended(acquired));
        if ended(acquired).is_some() {
            record.span(Some(request), "lock held", acquired, ended(free_us));
            let wait = (acquired + 5, ended(free_us - 15));
            record.span(Some(request), "downstream wait", wait.0, wait.1);
        }
    }
    record.0
}

/// Two seconds of a server that releases its lock first, under the same users.
pub fn fixed_spans() -> Spans {
    let mut record = Record(Spans { now_us: 2_000_000, ..Spans::default() });
    for count in 0..11_000 {
        let start = count * 184 + jitter(count, 150);
        let end = start + 50_950 + jitter(count, 900);
        let ended = |us: u64| Some(us).filter(|us| *us < 2_000_000);
        let request = record.span(None, "request", start, ended(end));
        record.span(Some(request), "lock wait", start + 20, Some(start + 21));
        record.span(Some(request), "lock held", start + 21, Some(start + 24));
        record.span(Some(request), "downstream wait", start + 24, ended(end - 20));
    }
    record.0.spans.retain(|span| span.start_us < 2_000_000);
    record.0
}

/// A thread whose states are letters: `r` runs, `s` waits for a core, `f` is futex, `d` fsync.
pub fn thread(name: &str, states: &str) -> Thread {
    let state = |letter| match letter {
        'r' => State::Running,
        's' => State::Ready,
        'f' => State::Blocked("futex".into()),
        'd' => State::Blocked("fsync".into()),
        _ => State::Absent,
    };
    Thread { name: name.to_owned(), states: states.chars().map(state).collect() }
}

//! Spans like those of a server with a lock, and threads, for tests.

use std::collections::BTreeMap;

use lab_observation::{Span, Spans, State, Thread};
use lab_protocol::{Role, SpanKind};

pub fn kinds() -> BTreeMap<String, SpanKind> {
    [
        ("lock wait", "waits for the lock", Role::Wait),
        ("lock held", "holds the lock", Role::Held),
        ("downstream wait", "waits for another server", Role::Downstream),
    ]
    .map(|(name, label, role)| (name.to_owned(), SpanKind { label: label.to_owned(), role }))
    .into()
}

/// A record until `now_us`: each request has its start, when it has the lock, until when, and the time in
/// which it waits downstream.
fn record(now_us: u64, requests: impl Iterator<Item = [u64; 5]>) -> Spans {
    let mut spans = Vec::new();
    for [start, acquired, released, asked, answered] in requests {
        let root = spans.len() as u64 + 1;
        for (id, (name, start_us, end_us)) in (root..).zip([
            ("request", start, released.max(answered)),
            ("lock wait", start, acquired),
            ("lock held", acquired, released),
            ("downstream wait", asked, answered),
        ]) {
            let (name, parent) = (name.to_owned(), (id > root).then_some(root));
            let end_us = Some(end_us).filter(|us| *us < now_us);
            spans.push(Span { id, parent, name, start_us, end_us });
        }
    }
    // What has not begun cannot be seen.
    spans.retain(|span| span.start_us < now_us);
    Spans { spans, now_us, ..Spans::default() }
}

/// Ten seconds of a server that holds its lock while it waits: 3,000 users in one queue.
pub fn slow_spans() -> Spans {
    let turn = |user: u64| 2_000 + user * 51_000;
    record(
        10_000_000,
        (0..3000).map(|user| {
            let released = turn(user + 1);
            [user * 166, turn(user).max(user * 166), released, turn(user) + 5, released - 15]
        }),
    )
}

/// Two seconds of a server that releases its lock first, under the same users.
pub fn fixed_spans() -> Spans {
    let starts = (0..11_000).map(|count| count * 184);
    record(2_000_000, starts.map(|it| [it, it + 21, it + 24, it + 24, it + 51_000]))
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

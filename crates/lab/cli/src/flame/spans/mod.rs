//! What a server tells of its requests: when each began, waited, held the lock and ended.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The record of a server, as it answers at `GET /.lab/spans`. Times are microseconds since the
/// record began.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Spans {
    /// Every span that was kept, ended or not.
    pub spans: Vec<Span>,
    /// How many did not fit into the record.
    pub dropped: u64,
    /// When the server answered: what is open lasted at least until then.
    pub now_us: u64,
}

/// Something that lasted.
#[derive(Clone, Debug, Deserialize)]
pub struct Span {
    /// Differs from that of every other span.
    pub id: u64,
    /// The span that this one is a part of.
    pub parent: Option<u64>,
    /// What lasted.
    #[serde(rename = "name")]
    pub kind: Kind,
    /// When it began.
    pub start_us: u64,
    /// When it ended; absent while it is open.
    pub end_us: Option<u64>,
}

/// What a span stands for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub enum Kind {
    /// The whole of a request.
    #[serde(rename = "request")]
    Request,
    /// It wants the lock, and has to wait.
    #[serde(rename = "lock wait")]
    LockWait,
    /// It has the lock.
    #[serde(rename = "lock held")]
    LockHeld,
    /// It waits for the answer of another server.
    #[serde(rename = "downstream wait")]
    DownstreamWait,
    /// A name that we do not know: a newer server may have more.
    #[serde(other)]
    Other,
}

impl Kind {
    /// The name as the server tells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::LockWait => "lock wait",
            Self::LockHeld => "lock held",
            Self::DownstreamWait => "downstream wait",
            Self::Other => "other",
        }
    }
}

/// A request with all that is known of it.
#[derive(Clone, Debug)]
pub struct Request {
    /// When it began, in microseconds.
    pub start_us: u64,
    /// When it was answered, in microseconds; absent if it was not yet.
    pub end_us: Option<u64>,
    /// Its parts by their begin, and of two that begin together the longer one first.
    pub parts: Vec<Part>,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// What it was.
    pub kind: Kind,
    /// When it began, in microseconds.
    pub start_us: u64,
    /// When it ended, in microseconds; for an open one, when the record was read.
    pub end_us: u64,
}

impl Request {
    /// The first part of a kind.
    pub fn first(&self, kind: Kind) -> Option<&Part> {
        self.parts.iter().find(|part| part.kind == kind)
    }

    /// When it got to work: when it had the lock, or when it began if it takes none.
    pub fn under_way_us(&self) -> u64 {
        self.first(Kind::LockHeld).map_or(self.start_us, |held| held.start_us)
    }
}

impl Spans {
    /// The requests by their begin, each with its parts, however deep these are nested.
    pub fn requests(&self) -> Vec<Request> {
        let by_id: BTreeMap<_, _> = self.spans.iter().map(|span| (span.id, span)).collect();
        let mut requests: BTreeMap<(u64, u64), Request> = BTreeMap::new();
        for span in &self.spans {
            // A span whose parent was dropped belongs to no request that could be drawn.
            let Some(root) = self.root(span, &by_id) else { continue };
            let request = requests.entry((root.start_us, root.id)).or_insert_with(|| Request {
                start_us: root.start_us,
                end_us: root.end_us,
                parts: Vec::new(),
            });
            if span.kind != Kind::Request {
                let end_us = span.end_us.or(root.end_us).unwrap_or(self.now_us);
                let part = Part { kind: span.kind, start_us: span.start_us, end_us };
                request.parts.push(part);
            }
        }
        let mut requests: Vec<_> = requests.into_values().collect();
        for request in &mut requests {
            request.parts.sort_by_key(|part| (part.start_us, std::cmp::Reverse(part.end_us)));
        }
        requests
    }

    /// The request that a span is a part of.
    fn root<'a>(&self, span: &'a Span, by_id: &BTreeMap<u64, &'a Span>) -> Option<&'a Span> {
        let mut span = span;
        // A chain of parents is never longer than the record, unless it is a circle.
        for _ in 0..by_id.len() {
            if span.kind == Kind::Request {
                return Some(span);
            }
            span = by_id.get(&span.parent?)?;
        }
        None
    }
}

#[cfg(test)]
mod tests;

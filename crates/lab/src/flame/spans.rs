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
mod tests {
    use super::*;

    fn read(json: &str) -> Spans {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn parts_come_to_their_request_through_any_number_of_parents() {
        let spans = read(
            r#"{ "dropped": 3, "now_us": 90, "spans": [
                { "id": 1, "parent": null, "name": "request", "start_us": 10, "end_us": 80 },
                { "id": 2, "parent": 1, "name": "lock held", "start_us": 20, "end_us": 70 },
                { "id": 3, "parent": 2, "name": "downstream wait", "start_us": 30, "end_us": 60 },
                { "id": 4, "parent": 1, "name": "lock wait", "start_us": 11, "end_us": 20 },
                { "id": 5, "parent": 99, "name": "lock wait", "start_us": 1, "end_us": 2 },
                { "id": 6, "parent": null, "name": "request", "start_us": 15, "end_us": null },
                { "id": 7, "parent": 6, "name": "a new name", "start_us": 16, "end_us": null }
            ] }"#,
        );
        let requests = spans.requests();
        let kinds: Vec<_> = requests[0].parts.iter().map(|part| part.kind.name()).collect();
        assert_eq!(kinds, ["lock wait", "lock held", "downstream wait"]);
        assert_eq!(requests[0].under_way_us(), 20);
        assert_eq!(requests[1].end_us, None);
        assert_eq!(requests[1].parts[0].kind, Kind::Other);
        assert_eq!(requests[1].parts[0].end_us, spans.now_us);
        assert_eq!(requests.len(), 2);
    }

    #[test]
    fn a_circle_of_parents_belongs_to_no_request() {
        let spans = read(
            r#"{ "dropped": 0, "now_us": 9, "spans": [
                { "id": 1, "parent": 2, "name": "lock wait", "start_us": 1, "end_us": 2 },
                { "id": 2, "parent": 1, "name": "lock held", "start_us": 1, "end_us": 2 }
            ] }"#,
        );
        assert!(spans.requests().is_empty());
    }
}

//! The spans that a server records of its requests: when each began, what it waited for, its end.

use std::collections::BTreeMap;

use lab_protocol::{Role, SpanKind};
use serde::Deserialize;

/// The answer of a server to `GET /.lab/spans`. Times are microseconds since the server's start.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Spans {
    /// Every span that was kept, ended or not.
    pub spans: Vec<Span>,
    /// How many did not fit.
    pub dropped: u64,
    /// When the server answered: an open span lasted at least until then.
    pub now_us: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Span {
    pub id: u64,
    /// The span that this one is part of. A request has none.
    pub parent: Option<u64>,
    pub name: String,
    pub start_us: u64,
    /// Absent while the span is open.
    pub end_us: Option<u64>,
}

/// A request with all its parts.
#[derive(Clone, Debug)]
pub struct TracedRequest {
    pub name: String,
    pub start_us: u64,
    /// Absent without an answer.
    pub end_us: Option<u64>,
    /// Sorted by their start; of two that start together, the longer one first.
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    /// Absent if the case does not say what the span means.
    pub role: Option<Role>,
    pub start_us: u64,
    /// The end of the span. For an open span, it is the time at which the record was read.
    pub end_us: u64,
}

impl TracedRequest {
    /// The first part with this role.
    pub fn first(&self, role: Role) -> Option<&Part> {
        self.parts.iter().find(|part| part.role == Some(role))
    }

    /// When the request got its turn: when it first held what others wait for, or its start.
    pub fn turn_us(&self) -> u64 {
        self.first(Role::Held).map_or(self.start_us, |held| held.start_us)
    }
}

impl Spans {
    /// The requests by their start, each with its parts, however deep they are nested.
    pub fn requests(&self, kinds: &BTreeMap<String, SpanKind>) -> Vec<TracedRequest> {
        let by_id: BTreeMap<_, _> = self.spans.iter().map(|span| (span.id, span)).collect();
        let mut requests: BTreeMap<(u64, u64), TracedRequest> = BTreeMap::new();
        for span in &self.spans {
            // A parent is older than its parts. Without it, they belong to no request that can be drawn.
            let parent = |span: &&Span| {
                by_id.get(&span.parent?).copied().filter(|parent| parent.id < span.id)
            };
            let Some(root) = std::iter::successors(Some(span), parent).last() else { continue };
            if root.parent.is_some() {
                continue;
            }
            let request =
                requests.entry((root.start_us, root.id)).or_insert_with(|| TracedRequest {
                    name: root.name.clone(),
                    start_us: root.start_us,
                    end_us: root.end_us,
                    parts: Vec::new(),
                });
            if span.id != root.id {
                request.parts.push(Part {
                    name: span.name.clone(),
                    role: kinds.get(&span.name).map(|kind| kind.role),
                    start_us: span.start_us,
                    end_us: span.end_us.or(root.end_us).unwrap_or(self.now_us),
                });
            }
        }
        let mut requests: Vec<_> = requests.into_values().collect();
        for request in &mut requests {
            request.parts.sort_by_key(|part| (part.start_us, std::cmp::Reverse(part.end_us)));
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Spans {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn parts_find_their_request_through_any_number_of_parents() {
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
        let held = SpanKind { label: "holds the lock".to_owned(), role: Role::Held };
        let requests = spans.requests(&[("lock held".to_owned(), held)].into());
        let names: Vec<_> = requests[0].parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["lock wait", "lock held", "downstream wait"]);
        assert_eq!(requests[0].turn_us(), 20);
        assert_eq!(requests[1].end_us, None);
        assert_eq!((requests[1].parts[0].role, requests[1].turn_us()), (None, 15));
        assert_eq!(requests[1].parts[0].end_us, spans.now_us);
        assert_eq!(requests.len(), 2);
    }
}

//! The spans that a server records of its requests: when each began, what it waited for, its end.

use std::collections::{BTreeMap, BTreeSet};

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
    /// All spans that were open at this time or later are here: none of them is among those that did not fit.
    #[serde(default)]
    pub complete_since_us: u64,
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

    /// What a request spent in each nest of its parts and in nothing deeper, in microseconds.
    ///
    /// All parts are children of the request, whatever the code looks like. A part that falls within
    /// another *in time* is drawn on top of it, so no microsecond counts twice.
    pub fn own_times(&self) -> Vec<(Vec<String>, u64)> {
        let end_us = self.end_us.unwrap_or(self.start_us).max(self.start_us);
        let mut times = vec![(vec![self.name.clone()], end_us - self.start_us)];
        // The current nest: the end of each part, and the index of its own time.
        let mut nest = vec![(end_us, 0)];
        for part in &self.parts {
            while nest.len() > 1 && nest.last().is_some_and(|(end, _)| *end <= part.start_us) {
                nest.pop();
            }
            let Some(&(outer_end, outer)) = nest.last() else { continue };
            // By a tick of the clock, a part can outlast the part around it. That does not count.
            let (start, end) = (part.start_us.max(self.start_us), part.end_us.min(outer_end));
            let lasted = end.saturating_sub(start).min(times[outer].1);
            times[outer].1 -= lasted;
            let mut stack = times[outer].0.clone();
            stack.push(part.name.clone());
            times.push((stack, lasted));
            nest.push((end, times.len() - 1));
        }
        times
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

    /// The requests that began before this time, and those that began later.
    pub fn split(self, at_us: u64) -> [Self; 2] {
        let mut later = BTreeSet::new();
        // A request comes before its parts.
        let is_later = |span: &Span| {
            let is_later = span.parent.map_or(span.start_us >= at_us, |it| later.contains(&it));
            is_later && later.insert(span.id)
        };
        let (after, before) = self.spans.into_iter().partition(is_later);
        let Self { dropped, now_us, complete_since_us, .. } = self;
        let of = |spans, now_us| Self { spans, dropped, now_us, complete_since_us };
        [of(before, at_us.min(now_us)), of(after, now_us)]
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

    #[test]
    fn requests_are_split_by_their_begin_with_all_their_parts() {
        let spans = read(
            r#"{ "dropped": 3, "now_us": 90, "complete_since_us": 5, "spans": [
                { "id": 1, "parent": null, "name": "request", "start_us": 10, "end_us": 80 },
                { "id": 2, "parent": 1, "name": "lock wait", "start_us": 60, "end_us": 70 },
                { "id": 3, "parent": null, "name": "request", "start_us": 50, "end_us": 90 },
                { "id": 4, "parent": 3, "name": "lock wait", "start_us": 51, "end_us": 90 }
            ] }"#,
        );
        let ids = |spans: &Spans| spans.spans.iter().map(|span| span.id).collect::<Vec<_>>();
        let [before, after] = spans.split(50);
        assert_eq!((ids(&before), before.now_us), (vec![1, 2], 50));
        assert_eq!((ids(&after), after.now_us), (vec![3, 4], 90));
        assert_eq!((after.dropped, after.complete_since_us), (3, 5));
    }
}

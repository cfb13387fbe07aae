//! The latest spans of a server.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::Serialize;

/// One span. Times are microseconds since the server's start.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Span {
    /// Counts from 1, in the order of the starts.
    pub id: u64,
    pub parent: Option<u64>,
    pub name: &'static str,
    pub start_us: u64,
    /// `None` while it is open.
    pub end_us: Option<u64>,
}

/// Spans in the order of their starts, so that their numbers find them.
pub(crate) struct Record {
    /// How many spans are remembered besides those that are open.
    capacity: usize,
    /// The number of the first span in `last`.
    first: u64,
    last: VecDeque<Span>,
    /// Open spans that are older than those in `last`. A request can wait for minutes.
    overdue: BTreeMap<u64, Span>,
    /// How many spans are forgotten.
    dropped: u64,
    /// When the last of the forgotten ones ended.
    complete_since_us: u64,
}

/// The answer about spans.
#[derive(Debug, Serialize)]
pub(crate) struct Recorded {
    pub now_us: u64,
    /// How many spans were forgotten since the start, for lack of room.
    pub dropped: u64,
    /// All spans that were open at this time or later are remembered.
    pub complete_since_us: u64,
    pub spans: Vec<Span>,
}

impl Record {
    pub(crate) const fn new(capacity: usize) -> Self {
        Self {
            capacity,
            first: 1,
            last: VecDeque::new(),
            overdue: BTreeMap::new(),
            dropped: 0,
            complete_since_us: 0,
        }
    }

    /// Remembers a new span; returns its number.
    pub(crate) fn open(&mut self, parent: Option<u64>, name: &'static str, start_us: u64) -> u64 {
        if self.last.len() >= self.capacity {
            self.make_room();
        }
        let id = self.first + self.last.len() as u64;
        self.last.push_back(Span { id, parent, name, start_us, end_us: None });
        id
    }

    fn make_room(&mut self) {
        let Some(oldest) = self.last.pop_front() else { return };
        self.first += 1;
        match oldest.end_us {
            Some(end_us) => self.forget(end_us),
            None => drop(self.overdue.insert(oldest.id, oldest)),
        }
    }

    fn forget(&mut self, end_us: u64) {
        self.dropped += 1;
        self.complete_since_us = self.complete_since_us.max(end_us);
    }

    /// Ends the span with the number `id`.
    pub(crate) fn close(&mut self, id: u64, end_us: u64) {
        let recent = id.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(span) = recent.and_then(|at| self.last.get_mut(at)) {
            span.end_us = Some(end_us);
            let parent = span.parent;
            self.prolong(parent, end_us);
        } else if self.overdue.remove(&id).is_some() {
            self.forget(end_us);
        }
    }

    /// A request that has returned its head goes on until its body has been read.
    fn prolong(&mut self, request: Option<u64>, end_us: u64) {
        let at = request
            .and_then(|id| id.checked_sub(self.first))
            .and_then(|at| usize::try_from(at).ok());
        let request = at.and_then(|at| self.last.get_mut(at));
        if let Some(end) = request.and_then(|request| request.end_us.as_mut()) {
            *end = end_us;
        }
    }

    /// All requests that were open at `since_us` or later, each with all its spans.
    pub(crate) fn since(&self, since_us: u64, now_us: u64) -> Recorded {
        let mut reported = HashSet::new();
        let spans = self.overdue.values().chain(&self.last).filter(|span| {
            let report = match span.parent {
                Some(parent) => reported.contains(&parent),
                None => span.end_us.is_none_or(|end_us| end_us >= since_us),
            };
            report && reported.insert(span.id)
        });
        let spans = spans.copied().collect();
        let Self { dropped, complete_since_us, .. } = *self;
        Recorded { now_us, dropped, complete_since_us, spans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(record: &Record, since_us: u64) -> Vec<u64> {
        record.since(since_us, 1000).spans.iter().map(|span| span.id).collect()
    }

    #[test]
    fn a_request_is_reported_with_all_its_spans_or_not_at_all() {
        let mut record = Record::new(10);
        let early = record.open(None, "request", 0);
        let inner = record.open(Some(early), "wait", 1);
        let late = record.open(None, "request", 2);
        record.close(inner, 3);
        assert_eq!(ids(&record, 100), [early, inner, late], "open spans are reported");
        record.close(early, 50);
        assert_eq!(
            ids(&record, 50),
            [early, inner, late],
            "and so are those that ended long ago in such a request"
        );
        assert_eq!(ids(&record, 51), [late]);
    }

    #[test]
    fn forgotten_spans_are_counted_and_open_spans_are_kept() {
        let mut record = Record::new(2);
        let waiting = record.open(None, "request", 0);
        for start_us in 1..=5 {
            let id = record.open(None, "request", start_us);
            record.close(id, start_us + 10);
        }
        let recorded = record.since(0, 20);
        assert_eq!((recorded.dropped, recorded.complete_since_us), (3, 13));
        assert_eq!(ids(&record, 0), [waiting, 5, 6]);
        record.close(waiting, 30);
        assert_eq!(ids(&record, 0), [5, 6]);
        assert_eq!(record.since(0, 40).complete_since_us, 30);
    }
}

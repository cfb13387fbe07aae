//! What was seen of one server: under load, and of its allocations.

use std::time::Duration;

use lab_load::Outcome;

use super::{Folded, Recording, connections::Sample, spans::Spans};

/// All that was seen of one server under load.
#[derive(Debug)]
pub struct Observation {
    /// The server's name on the page, such as `slow`.
    pub name: String,
    /// What the profiler saw; absent where none may be used.
    pub recording: Option<Recording>,
    /// What the load generator found, over a window that includes the recording's.
    pub outcome: Outcome,
    /// How many requests one of the generator's is made of: more than one if it loads a page.
    pub requests_per_page: usize,
    /// What the server tells of its requests, if it does.
    pub spans: Option<Spans>,
    /// What the companions counted, over the recording's window; empty if none counts.
    pub connections: Vec<Sample>,
}

impl Observation {
    /// Requests that were answered while the load was measured.
    pub fn answered(&self) -> u64 {
        self.outcome.ok_in_time * self.requests_per_page as u64
    }

    /// CPU time of one answered request, by the system's own account.
    pub fn cpu_per_request(&self) -> Option<Duration> {
        let answered = u32::try_from(self.answered()).ok().filter(|count| *count > 0)?;
        Some(self.outcome.server_cpu? / answered)
    }
}

/// The bytes that a server allocates for a page, and where.
#[derive(Debug)]
pub struct Heap {
    /// Stacks with the symbols' names as the server tells them, outermost first; bytes per page.
    pub stacks: Folded,
    /// How many samples they are estimated from.
    pub samples: u64,
}

//! The pictures that `lab flame` shows of a case, and the meaning of the server's spans.

use serde::Deserialize;

/// A kind of picture. Each shows slow and fixed on one scale.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Exhibit {
    /// Twelve requests as rows over time. Needs `[spans]`.
    Timeline,
    /// A flame graph of the time of a request, by its spans.
    Waits,
    /// The states of each thread: running, waiting for a core, or blocked in a system call.
    Threads,
    /// Flame graphs of CPU time per request.
    Cpu,
    /// Flame graphs of allocated bytes per request.
    Allocations,
    /// The slow flame graph, coloured by what the fix changed.
    Differential,
}

/// The pictures of a case, or of your own server, that names none.
pub fn usual() -> Vec<Exhibit> {
    vec![Exhibit::Cpu, Exhibit::Differential, Exhibit::Threads]
}

/// The meaning of the spans of one name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SpanKind {
    /// The words for what a request does during the span, such as `waits for the lock`.
    pub label: String,
    pub role: Role,
}

/// The role of a span for other requests, which decides how it is drawn.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The request waits for its turn.
    Wait,
    /// The request has what others wait for.
    Held,
    /// The request waits for another server.
    Downstream,
}

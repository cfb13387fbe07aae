//! Which pictures a case's page shows: its case file names them, the most telling first.

use serde::{Deserialize, Serialize};

/// A kind of picture. Each shows slow and fixed on one scale.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhibit {
    /// Requests as rows over time: what each of them waited for.
    Timeline,
    /// A flame graph of waits, by request.
    Waits,
    /// Flame graphs of CPU time, by request.
    Cpu,
    /// Flame graphs of allocated bytes, by page.
    Allocations,
    /// What a page costs in system calls, and in whatever the companions count.
    Counters,
    /// Connections to the companions, over time.
    Connections,
    /// The slow flame graph, coloured by what the fix changed.
    Differential,
}

/// What a page shows of a case, or of a server, that asks for nothing else.
pub fn usual() -> Vec<Exhibit> {
    vec![Exhibit::Cpu, Exhibit::Differential]
}

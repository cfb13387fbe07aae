//! The slowest of some random arrivals.

use serde::Serialize;

use super::{SpanTail, Tail};

/// How fast random arrivals were answered, and why the slowest of them are slow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SlowestRequests {
    /// How many visits came per second.
    pub rate_per_s: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Whether the load generator was late itself, so that nothing is known of the slowest.
    pub is_late: bool,
    /// By what the threads did meanwhile.
    pub tail: Option<Tail>,
    /// By the spans that the server recorded of them.
    pub spans: Option<SpanTail>,
}

impl SlowestRequests {
    /// Whether the slowest hundredth takes much longer than usual.
    pub fn are_slow(&self) -> bool {
        let percentiles = self.p50_ms.zip(self.p99_ms);
        percentiles.is_some_and(|(p50, p99)| p99 >= super::FACTOR as f64 * p50)
    }
}

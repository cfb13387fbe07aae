//! How long one request of a visit took, while all of them were in the server.

use serde::{Deserialize, Serialize};

use super::Latency;

/// The right answers to one request of a visit in one run of a closed loop.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RequestTime {
    /// `GET /users`
    pub request: String,
    pub answers: u64,
    pub mean_ms: Option<f64>,
    /// `None` with fewer than ten answers.
    pub p50_ms: Option<f64>,
    /// `None` unless ten answers took longer.
    pub p99_ms: Option<f64>,
}

impl RequestTime {
    pub fn of(request: &str, latency: &Latency) -> Self {
        Self {
            request: request.to_owned(),
            answers: latency.count(),
            mean_ms: latency.mean_ms(),
            p50_ms: latency.median_ms(),
            p99_ms: latency.percentile_ms(99.0),
        }
    }

    /// The time of all its answers together, in milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.mean_ms.unwrap_or_default() * self.answers as f64
    }
}

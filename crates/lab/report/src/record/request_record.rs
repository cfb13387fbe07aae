//! One request of a visit, on both sides.

use lab_stats::Speedup;
use serde::{Deserialize, Serialize};

/// The times of one request of a visit in the closed loop, on the baseline and on the candidate: of each, the median
/// run. The others of the visit are in the server meanwhile, so this is no throughput, and no CPU time.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RequestRecord {
    /// `GET /users`
    pub request: String,
    pub p50_ms: [Option<f64>; 2],
    pub p99_ms: [Option<f64>; 2],
    /// The share of the time of all requests of a visit, from 0 to 1.
    pub share: [Option<f64>; 2],
    /// How many times as long its p50 is on the baseline, from the ratios of the pairs. Its interval is for this request
    /// alone.
    pub speedup: Option<Speedup>,
}

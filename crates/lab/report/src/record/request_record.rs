//! One request of a visit, on both sides.

use lab_stats::Speedup;
use serde::{Deserialize, Serialize};

/// The times of one request of a visit in the closed loop, on the baseline and on the candidate: of each, the median
/// run. The others of the visit are in the server meanwhile, so these times say nothing of throughput or CPU time.
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
    /// Microseconds of CPU time of one such request, from extra runs after the pairs, in which it was loaded alone. They
    /// have no interval.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub cpu_us_per_request: [Option<f64>; 2],
}

impl RequestRecord {
    /// How many times as much CPU time one such request takes on the baseline.
    pub fn cpu_factor(&self) -> Option<f64> {
        let [before, after] = self.cpu_us_per_request;
        Some(before? / after.filter(|cost| *cost > 0.0)?)
    }
}

fn is_unknown(costs: &[Option<f64>; 2]) -> bool {
    *costs == [None; 2]
}

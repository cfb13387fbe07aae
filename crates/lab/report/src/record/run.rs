//! One run of a server, and a rate over all runs of a server.

use lab_protocol::{Listener, Outcome};
use serde::{Deserialize, Serialize};

use crate::Neighbours;

use super::CaseRecord;

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    pub variant: String,
    /// Its pair: the other run with this number was the one just before or after it. `None` for the
    /// extra runs of the baseline that only the control uses.
    pub pair: Option<usize>,
    /// The seed of its random arrivals, which all runs of a round share; that of the background follows from
    /// it. `None` if nothing was random. In records from before November 28, 2026, only the two runs of a
    /// pair share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The system's load average just before the run.
    pub load_average: Option<f64>,
    /// Where the server was found; `None` if it announced that itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Listener>,
    /// `None` if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    pub outcome: Outcome,
}

impl CaseRecord {
    /// Arrivals of the open loop per second that a variant met, as they were.
    pub fn arrived_per_s(&self, variant: &str) -> Option<f64> {
        per_s(&self.open_runs, variant, |outcome| outcome.sent)
    }

    /// Requests of the background per second that a variant met, as they were, in the runs that decide. `None` without
    /// any.
    pub fn background_per_s(&self, variant: &str) -> Option<f64> {
        let of_open_loop = self.open_runs.iter().any(|run| run.pair.is_some());
        let runs = if of_open_loop { &self.open_runs } else { &self.runs };
        per_s(runs, variant, |outcome| outcome.background_sent).filter(|rate| *rate > 0.0)
    }
}

/// The rate per second of a count over all runs of a variant; `None` without runs.
fn per_s(runs: &[Run], variant: &str, of: impl Fn(&Outcome) -> u64) -> Option<f64> {
    let runs = runs.iter().filter(|run| run.variant == variant);
    let seconds: f64 = runs.clone().map(|run| run.outcome.measured.as_secs_f64()).sum();
    let count: u64 = runs.map(|run| of(&run.outcome)).sum();
    (seconds > 0.0).then(|| count as f64 / seconds)
}

//! Counts of requests by their result.

use lab_protocol::{Outcome, is_zero};
use serde::{Deserialize, Serialize};

/// All requests by their result: `sent = ok + wrong + failed + unfinished`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RequestCounts {
    pub sent: u64,
    pub ok: u64,
    pub wrong: u64,
    /// Requests without a complete answer.
    pub failed: u64,
    /// Still waiting when the run ended.
    pub unfinished: u64,
    /// Unfinished requests that the load does not explain. They are errors.
    pub lost: u64,
    /// Sent again, because the server closed a connection that it had used before instead of answering.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// Connections that the generator closed, because bytes followed a complete answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surplus: u64,
    /// The first wrong or failed request, in words.
    pub first_fault: Option<String>,
}

impl RequestCounts {
    pub fn add(&mut self, outcome: &Outcome) {
        self.sent += outcome.sent;
        self.ok += outcome.ok;
        self.wrong += outcome.wrong;
        self.failed += outcome.failed;
        self.unfinished += outcome.unfinished;
        self.lost += outcome.lost;
        self.resent += outcome.resent;
        self.surplus += outcome.surplus;
        self.first_fault = self.first_fault.take().or(outcome.first_fault.clone());
    }

    /// Wrong answers, and requests that never got one.
    pub fn errors(&self) -> u64 {
        self.wrong + self.failed + self.lost
    }
}

//! Why a profiler cannot be used, in one sentence with its mend.

use std::fmt;

/// Something that is in the way of a profiler.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Obstacle {
    /// What is wrong.
    pub reason: String,
    /// A command or an option that mends it, ready to be copied; absent where nothing does.
    pub mend: Option<String>,
}

impl Obstacle {
    /// One that nothing mends.
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), mend: None }
    }

    /// The same with what mends it.
    pub(super) fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: Some(mend.into()), ..self }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mend {
            Some(mend) => write!(f, "{}; mend: {mend}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// Why there is no recording.
#[derive(Debug)]
pub enum Failure {
    /// The profiler failed: the next rung may not, so record both variants with that.
    StepDown(Obstacle),
    /// The server or the disk failed, and would for the next profiler too: the user has to know.
    Fatal(anyhow::Error),
}

impl From<Obstacle> for Failure {
    fn from(obstacle: Obstacle) -> Self {
        Self::StepDown(obstacle)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Fatal(error)
    }
}

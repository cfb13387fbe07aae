//! The report of a check: one gate after the other, up to the first that the fix doesn't pass.

use lab_cases::Case;
use lab_protocol::Speedups;
use lab_stats::Speedup;
use serde::Serialize;

use crate::{commit, difference::Found};

/// How a gate, or a whole check, ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    Passed,
    NotYet,
    /// The interval contains the factor that is needed.
    Undecided,
}

/// A gate that was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// `answers`, `mechanism` or `speed`.
    pub gate: &'static str,
    pub mark: Mark,
    pub measured: String,
    /// Empty if `measured` says it.
    pub needed: String,
}

/// The report of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub case: String,
    /// The mark of the last gate that the fix has to pass.
    pub mark: Mark,
    /// Up to the first that was not passed.
    pub gates: Vec<Gate>,
    /// The factor over `slow` of what the case promises, if it was measured.
    pub speedup: Option<Speedup>,
    /// The factors of everything else.
    #[serde(skip)]
    pub speedups: Option<Speedups>,
    /// Draws the same requests and waits again.
    pub seed: u64,
    /// Whether all files but the reader's are as they were committed, as far as git can say.
    pub is_as_committed: bool,
    /// Sentences about things that aren't wrong but should be known.
    pub notes: Vec<String>,
}

impl Report {
    /// Before the first gate. Some files may differ from the commit.
    pub(super) fn begun(case: &Case, seed: u64, changed: &[String]) -> Self {
        Self {
            case: case.shown.clone(),
            mark: Mark::Passed,
            gates: Vec::new(),
            speedup: None,
            speedups: None,
            seed,
            is_as_committed: changed.is_empty(),
            notes: commit::note(changed).into_iter().collect(),
        }
    }

    /// Whether the next gate is reached.
    pub(super) fn is_passed(&self) -> bool {
        self.mark == Mark::Passed
    }

    /// Adds a gate that is passed or not.
    pub(super) fn add(&mut self, gate: &'static str, found: Found) {
        let mark = if found.is_ok() { Mark::Passed } else { Mark::NotYet };
        let [measured, needed] =
            found.map_or_else(|refused| refused, |measured| [measured, String::new()]);
        self.push(Gate { gate, mark, measured, needed });
    }

    pub(super) fn push(&mut self, gate: Gate) {
        self.mark = gate.mark;
        self.gates.push(gate);
    }
}

//! Visits of several kinds: what a plan says of each kind, and what became of each visit.

use std::ops::RangeInclusive;

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::{Outcome, Request, limits::within};

/// A kind of visit. Each arrival draws a kind by weight.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VisitKind {
    pub name: String,
    /// Divided by the sum of all weights, it is the share of this kind.
    pub weight: f64,
    /// Visits of this kind take these in turn. Each is a list of requests, sent one after the other.
    pub alternatives: Vec<Vec<Request>>,
}

impl VisitKind {
    /// The accepted weights.
    const WEIGHTS: RangeInclusive<f64> = 1e-3..=1e6;

    /// Checks that the kind can be drawn and has something to send.
    ///
    /// # Errors
    ///
    /// If the weight is out of range, or if an alternative has no request.
    pub fn check(&self) -> anyhow::Result<()> {
        within("weight", self.weight, Self::WEIGHTS)?;
        let name = &self.name;
        ensure!(!self.alternatives.is_empty(), "the visit `{name}` has no `alternatives`");
        ensure!(
            self.alternatives.iter().all(|requests| !requests.is_empty()),
            "the visit `{name}` has an alternative without a request"
        );
        Ok(())
    }
}

/// The visits that were due during the measurement, in the order of their due times: columns of equal length.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Visits {
    /// The index of the visit's kind in the plan.
    pub kind: Vec<u16>,
    /// When it was due, from the begin of the measurement.
    pub due_us: Vec<u64>,
    /// From then until its last answer; for an unfinished visit, its age.
    pub latency_us: Vec<u64>,
    pub answer: Vec<VisitEnd>,
    /// When the measurement began, in microseconds since 1970: other processes have the same clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_unix_us: Option<u64>,
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VisitEnd {
    Right,
    /// All answers were right, and at least one was the second right answer, `expected.or`.
    Other,
    Wrong,
    Failed,
    Unfinished,
}

impl Visits {
    /// Fails, naming the column, unless this fits the counts of `outcome`, whose plan has so many `kinds`.
    /// Faults of the warm-up are only in the counts.
    pub(super) fn check(&self, outcome: &Outcome, kinds: usize, ran_s: f64) -> anyhow::Result<()> {
        let rows = self.kind.len();
        for (column, length) in [
            ("due_us", self.due_us.len()),
            ("latency_us", self.latency_us.len()),
            ("answer", self.answer.len()),
        ] {
            let column = format!("visits.{column}");
            ensure!(length == rows, "`{column}` has {length} values, but `visits.kind` has {rows}");
        }
        for kind in &self.kind {
            ensure!(usize::from(*kind) < kinds, "`visits.kind` is {kind}, of {kinds} kinds");
        }
        let ran_us = (1e6 * ran_s) as u64;
        for (due_us, latency_us) in self.due_us.iter().zip(&self.latency_us) {
            within("visits.due_us", *due_us, 0..=ran_us)?;
            within("visits.latency_us", *latency_us, 0..=ran_us)?;
        }
        let count = |ends: &[VisitEnd]| {
            self.answer.iter().filter(|answer| ends.contains(answer)).count() as u64
        };
        let &Outcome { ok, wrong, failed, unfinished, .. } = outcome;
        for (name, found, allowed) in [
            ("`right` and `other`", count(&[VisitEnd::Right, VisitEnd::Other]), ok..=ok),
            ("`unfinished`", count(&[VisitEnd::Unfinished]), unfinished..=unfinished),
            ("`wrong`", count(&[VisitEnd::Wrong]), 0..=wrong),
            ("`failed`", count(&[VisitEnd::Failed]), 0..=failed),
        ] {
            ensure!(
                allowed.contains(&found),
                "`visits.answer` has {found} times {name}, which does not fit the counts"
            );
        }
        Ok(())
    }
}

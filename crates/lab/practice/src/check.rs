//! Judges the reader's fix: right answers, then the mechanism, then speed.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use anyhow::ensure;
use lab_display::{factor, speedup_or};
use lab_measure::{
    Progress,
    bench::{Comparison, Effort},
};
use lab_model::{
    BASELINE, Case, CaseRecord, Criteria, Innocent, MINE, Metric, Overtaking, Speedups, Workspace,
};
use lab_servers::{
    Launch, current,
    instrumented::{self, Instrumentation},
};
use lab_stats::{Speedup, Verdict};
use serde::Serialize;
use tokio::time::timeout;

use crate::{answers, mechanism, source::criteria};

/// What was measured, in words; if it is not enough, also what is needed.
pub(super) type Found = Result<String, [String; 2]>;

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

/// What was found of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub case: String,
    /// That of the last gate that the fix has to pass.
    pub mark: Mark,
    /// Up to the first that was not passed.
    pub gates: Vec<Gate>,
    /// The factor over `slow` of what the case promises, if it was measured.
    pub speedup: Option<Speedup>,
    /// The factors of everything else.
    #[serde(skip)]
    pub speedups: Option<Speedups>,
    /// What shows that the fix was right to leave something as it is. No gate: it measures two files that
    /// are not the reader's.
    pub evidence: Option<String>,
}

/// Builds the reader's variants of these cases, and what they are compared with, at once. Returns the
/// workspace of the servers that count.
///
/// # Errors
///
/// If there is no `mine.rs`, or if it does not compile.
pub async fn build(
    workspace: &Workspace,
    cases: &[Case],
    is_timed: bool,
) -> anyhow::Result<Workspace> {
    let (mut counted, mut ordinary) = (Vec::new(), Vec::new());
    for case in cases {
        let (criteria, mine) = (criteria(case)?, case.source(MINE));
        let shown = &case.shown;
        ensure!(mine.is_file(), "there is no {}: `just try {shown}` makes it", mine.display());
        let mut variants = vec![BASELINE.to_owned()];
        if is_timed || !criteria.is_counted() {
            variants.push(MINE.to_owned());
        }
        variants.extend(criteria.innocent.iter().map(|it| it.variant.clone()));
        ordinary.push((case, variants));
        if criteria.is_counted() {
            // What slow costs says how far the fix is.
            let variants = [BASELINE, MINE].map(str::to_owned).to_vec();
            counted.push(Case { variants, ..case.clone() });
        }
    }
    // First, because cargo puts all builds of a server in the same place.
    let counting = match counted.is_empty() {
        true => workspace.clone(),
        false => instrumented::build(workspace, &counted, Instrumentation::Counts).await?,
    };
    current::build(workspace, &ordinary).await?;
    Ok(counting)
}

/// Judges the reader's variant. Its counts are those of the server in `counting`. Without an `effort`, no
/// clock is involved.
///
/// # Errors
///
/// If `slow` fails.
pub async fn check(
    workspace: &Workspace,
    counting: &Workspace,
    case: &Case,
    effort: Option<Effort>,
    seed: u64,
) -> anyhow::Result<Report> {
    let criteria = criteria(case)?;
    let of_mine = if criteria.is_counted() { counting } else { workspace };
    let mut report = Report {
        case: case.shown.clone(),
        mark: Mark::Passed,
        gates: Vec::new(),
        speedup: None,
        speedups: None,
        evidence: None,
    };
    let slow = Launch::of_case(workspace, case, BASELINE)?;
    let mine = Launch::of_case(of_mine, case, MINE)?;
    let compared = answers::compare(&slow, &mine, case, criteria, seed);
    report.add("answers", in_sight("comparing the answers", compared).await?);
    if report.mark == Mark::Passed {
        let mut found = match criteria.is_counted() {
            true => in_sight("counting", mechanism::counts(counting, case, criteria)).await?,
            false => Ok(String::new()),
        };
        if let (Ok(_), Some(wanted)) = (&found, &criteria.overtaking) {
            let race = mechanism::overtaking(of_mine, case, wanted);
            found = in_sight("sending quick requests after slow ones", race).await?;
            if let (Err([measured, _]), Some(half)) = (&mut found, &wanted.half) {
                let only = Overtaking { quick: half.clone(), half: None, ..wanted.clone() };
                let race = mechanism::overtaking(of_mine, case, &only);
                if in_sight("looking for half of the fix", race).await?.is_ok() {
                    *measured += "; but one of two limits is gone";
                }
            }
        }
        report.add("mechanism", found);
    }
    let Some(effort) = effort else { return Ok(report) };
    if report.mark == Mark::Passed {
        let record = compare(workspace, case, MINE, effort).await?;
        report.judge_speed(&record, criteria);
    }
    if let (Mark::Passed, Some(innocent)) = (report.mark, &criteria.innocent) {
        let record = compare(workspace, case, &innocent.variant, for_innocent(effort)).await?;
        report.evidence = Some(evidence(&record, innocent));
    }
    Ok(report)
}

/// Shows how long something takes that may wait for a server, which may never answer.
async fn in_sight<T>(what: &str, work: impl Future<Output = T>) -> T {
    let (progress, start, mut work) = (Progress::new(what), Instant::now(), pin!(work));
    loop {
        match timeout(Duration::from_secs(1), &mut work).await {
            Ok(done) => return done,
            Err(_) => progress.waiting(start.elapsed()),
        }
    }
}

/// How long the measurements of [`check`] take.
pub fn length(case: &Case, effort: Effort) -> Duration {
    let of_two = |effort: Effort| effort.length(2, case.load, case.arrivals_per_s.is_some());
    let innocent = case.check.as_ref().and_then(|criteria| criteria.innocent.as_ref());
    of_two(effort) + innocent.map_or(Duration::ZERO, |_| of_two(for_innocent(effort)))
}

/// An equivalence needs a narrower interval than a factor.
fn for_innocent(effort: Effort) -> Effort {
    Effort { metric: Metric::Cpu, pairs: 2 * effort.pairs, ..effort }
}

/// Measures a variant against `slow`.
async fn compare(
    workspace: &Workspace,
    case: &Case,
    variant: &str,
    effort: Effort,
) -> anyhow::Result<CaseRecord> {
    let variants = [BASELINE, variant].map(str::to_owned);
    let comparison = Comparison::of_case(workspace, case, &variants)?;
    let progress = Progress::planned(comparison.length(effort));
    comparison.record(variant, effort, &progress).await
}

impl Report {
    fn add(&mut self, gate: &'static str, found: Found) {
        let mark = if found.is_ok() { Mark::Passed } else { Mark::NotYet };
        let [measured, needed] = found.map_or_else(|both| both, |it| [it, String::new()]);
        self.push(Gate { gate, mark, measured, needed });
    }

    fn push(&mut self, gate: Gate) {
        self.mark = gate.mark;
        self.gates.push(gate);
    }

    fn judge_speed(&mut self, record: &CaseRecord, criteria: &Criteria) {
        self.speedup = record.speedup.of(record.metric).copied();
        self.speedups = Some(record.speedup);
        let fault = record.variant(MINE).and_then(|it| it.requests.first_fault.clone());
        let (mark, measured) = match fault {
            Some(fault) => (Mark::NotYet, fault),
            None if record.is_clean() => {
                (mark(self.speedup, criteria.speed), speedup_or("no factor", self.speedup))
            }
            None => (Mark::Undecided, "some runs are too short for an answer".to_owned()),
        };
        let needed = format!("at least {}", factor(criteria.speed));
        self.push(Gate { gate: "speed", mark, measured, needed });
    }
}

/// What a variant without the innocent part shows.
fn evidence(record: &CaseRecord, innocent: &Innocent) -> String {
    let conclusion = match record.verdict {
        Verdict::Equivalent | Verdict::SlightlyFaster | Verdict::SlightlySlower => {
            "so it costs nothing that matters here"
        }
        Verdict::Undecided => "which decides nothing; `--longer` narrows the interval",
        Verdict::Faster | Verdict::Slower => {
            "a difference that our runs don't show: `just doctor` says what disturbs this machine"
        }
    };
    let speedup = speedup_or("no factor", record.speedup.cpu_per_request);
    format!("slow without {} against slow, CPU time: {speedup}, {conclusion}", innocent.what)
}

/// Whether the whole interval is on one side of the factor that is needed.
fn mark(found: Option<Speedup>, needed: f64) -> Mark {
    match found {
        Some(found) if found.low >= needed => Mark::Passed,
        Some(found) if found.high < needed => Mark::NotYet,
        _ => Mark::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_contains_the_needed_factor_decides_nothing() {
        let found = Speedup::of_pairs([2.9, 3.0, 3.1, 3.0, 3.2, 2.8]);
        let Speedup { low, high, .. } = found.unwrap();
        let marks = [low, (low + high) / 2.0, high + 0.1].map(|needed| mark(found, needed));
        assert_eq!(marks, [Mark::Passed, Mark::Undecided, Mark::NotYet]);
        assert_eq!(mark(None, 2.0), Mark::Undecided);
    }
}

//! Judges the reader's fix: right answers, then the mechanism, then speed.

use anyhow::ensure;
use lab_display::{factor, speedup_or};
use lab_measure::{
    Progress,
    bench::{Comparison, Effort},
};
use lab_model::{BASELINE, Case, Criteria, MINE, Workspace};
use lab_servers::{
    Launch, current,
    instrumented::{self, Instrumentation},
};
use lab_stats::Speedup;
use serde::Serialize;

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
    /// That of the last gate.
    pub mark: Mark,
    /// Up to the first that was not passed.
    pub gates: Vec<Gate>,
    /// The factor over `slow` of what the case promises, if it was measured.
    pub speedup: Option<Speedup>,
}

/// Builds the reader's variant and judges it. Without an `effort`, no clock is involved. Servers that the
/// reader put in a directory are not built: `builds` is false.
///
/// # Errors
///
/// If there is no `mine.rs`, if it does not compile, or if `slow` fails.
pub async fn check(
    workspace: &Workspace,
    case: &Case,
    builds: bool,
    effort: Option<Effort>,
    seed: u64,
) -> anyhow::Result<Report> {
    let criteria = criteria(case)?;
    let (mine, shown) = (workspace.mine(case), &case.shown);
    ensure!(mine.is_file(), "there is no {}: `just try {shown}` makes it", mine.display());
    let both = Case { variants: [BASELINE, MINE].map(str::to_owned).to_vec(), ..case.clone() };
    let is_counted = !criteria.at_most.is_empty();
    let mut counting = workspace.clone();
    if builds {
        let wanted = if is_counted { &both.variants[..1] } else { &both.variants };
        current::build(workspace, &[(case, wanted.to_vec())]).await?;
    }
    if builds && is_counted {
        let mine = [Case { variants: vec![MINE.to_owned()], ..case.clone() }];
        counting = instrumented::build(workspace, &mine, Instrumentation::Counts).await?;
    }

    let mut report =
        Report { case: shown.clone(), mark: Mark::Passed, gates: Vec::new(), speedup: None };
    let slow = Launch::of_case(workspace, case, BASELINE)?;
    let mine = Launch::of_case(&counting, case, MINE)?;
    report.add("answers", answers::compare(&slow, &mine, case, criteria, seed).await?);
    if report.mark == Mark::Passed {
        let mut found = match is_counted {
            true => mechanism::counts(&counting, case, criteria).await?,
            false => Ok(String::new()),
        };
        if let (Ok(_), Some(wanted)) = (&found, &criteria.overtaking) {
            found = mechanism::overtaking(&counting, case, wanted).await?;
        }
        report.add("mechanism", found);
    }
    if let (Mark::Passed, Some(effort)) = (report.mark, effort) {
        if builds {
            current::build(workspace, &[(case, both.variants.clone())]).await?;
        }
        report.measure_speed(workspace, &both, criteria, effort).await?;
    }
    Ok(report)
}

impl Report {
    fn add(&mut self, gate: &'static str, found: Found) {
        self.mark = if found.is_ok() { Mark::Passed } else { Mark::NotYet };
        let [measured, needed] = found.map_or_else(|both| both, |it| [it, String::new()]);
        self.gates.push(Gate { gate, mark: self.mark, measured, needed });
    }

    async fn measure_speed(
        &mut self,
        workspace: &Workspace,
        case: &Case,
        criteria: &Criteria,
        effort: Effort,
    ) -> anyhow::Result<()> {
        let comparison = Comparison::of_case(workspace, case, &case.variants)?;
        let progress = Progress::planned(comparison.length(effort));
        let record = comparison.record(MINE, effort, &progress).await?;
        self.speedup = record.speedup.of(record.metric).copied();
        let fault = record.variant(MINE).and_then(|it| it.requests.first_fault.clone());
        let (mark, measured) = match fault {
            Some(fault) => (Mark::NotYet, fault),
            None if record.is_clean() => {
                (mark(self.speedup, criteria.speed), speedup_or("no factor", self.speedup))
            }
            None => (Mark::Undecided, "some runs are too short for an answer".to_owned()),
        };
        self.mark = mark;
        let needed = format!("at least {}", factor(criteria.speed));
        self.gates.push(Gate { gate: "speed", mark, measured, needed });
        Ok(())
    }
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

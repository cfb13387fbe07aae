//! Judges the reader's fix: right answers, then the mechanism, then speed.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use lab_cases::{Case, Criteria, FIXED, MINE, SLOW};
use lab_measure::bench::Effort;
use lab_model::Speedups;
use lab_report::{CaseRecord, Run, factor, say, speedup_or};
use lab_servers::Launch;
use lab_stats::Speedup;
use lab_system::Progress;
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    answers, commit, counts,
    difference::Found,
    draw::{Draw, Phase},
    overtaking,
    servers::Servers,
    source::criteria,
    speed::{ASKED, DrawnLoad},
};

/// A fix that is so many times as fast as ours gets a question.
const FAR_ABOVE: f64 = 3.0;

/// How long the gates without a clock take, for most cases.
const FIRST_GATES: Duration = Duration::from_secs(4);

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
    /// Draws the same requests and waits again.
    pub seed: u64,
    /// Whether all files but the reader's are as they were committed, as far as git can say.
    pub is_as_committed: bool,
    /// What isn't wrong and should be known, a sentence each.
    pub notes: Vec<String>,
}

/// Judges the reader's variant. Without an `effort`, no clock is involved.
///
/// # Errors
///
/// If `slow` fails.
pub async fn check(
    servers: &Servers,
    case: &Case,
    effort: Option<Effort>,
    seed: u64,
) -> anyhow::Result<Report> {
    let criteria = criteria(case)?;
    let of_mine = servers.of_mine(criteria);
    let changed = commit::changed(servers.workspace()).await;
    let note = commit::note(&changed);
    let mut report = Report {
        case: case.shown.clone(),
        mark: Mark::Passed,
        gates: Vec::new(),
        speedup: None,
        speedups: None,
        seed,
        is_as_committed: changed.is_empty(),
        notes: note.into_iter().collect(),
    };
    let mut draw = Draw::of(seed, Phase::Answers)?;
    let (drawn, _) = draw.wait(case);
    let slow = servers.launch(&drawn, SLOW)?;
    let mine = Launch::of_case(of_mine, &drawn, MINE)?;
    let compared = answers::compare([&slow, &mine], case, criteria, &mut draw);
    report.add("answers", in_sight(&say!("comparing the answers"), compared).await?);
    if report.mark == Mark::Passed {
        let mut draw = Draw::of(seed, Phase::Counts)?;
        let mut found = if criteria.is_counted() {
            let counted = counts::counts(servers, of_mine, case, criteria, &mut draw);
            in_sight(&say!("counting"), counted).await?
        } else {
            Ok(String::new())
        };
        if let (Ok(counted), Some(wanted)) = (found.clone(), &criteria.overtaking) {
            let mut draw = Draw::of(seed, Phase::Overtaking)?;
            let race = overtaking::overtaking(of_mine, case, wanted, &mut draw);
            found = in_sight(&say!("sending quick requests between slow ones"), race).await?;
            if !counted.is_empty() {
                found = found.map(|it| say!("{one}; {other}", one = counted, other = it));
            }
        }
        report.add("mechanism", found);
    }
    let Some(effort) = effort.filter(|_| report.mark == Mark::Passed) else { return Ok(report) };
    let load = DrawnLoad::draw(servers, case, criteria, seed);
    let load = in_sight(&say!("asking slow for the answers"), load).await?;
    let record = load.compare([SLOW, MINE], effort).await?;
    report.judge_speed(&record, criteria);
    let is_far = |it: &Speedup| it.estimate >= FAR_ABOVE * criteria.speed;
    if report.mark == Mark::Passed && report.speedup.as_ref().is_some_and(is_far) {
        // Two runs are enough for a question.
        let ours = load.compare([FIXED], effort).await?;
        let figure = |of: &CaseRecord, variant| of.variant(variant)?.figure(record.metric);
        let both = figure(&record, MINE).zip(figure(&ours, FIXED));
        report.notes.extend(both.and_then(|(mine, ours)| far_above(mine / ours)));
    }
    Ok(report)
}

/// Which of the two servers gave too few answers to be judged.
fn starved(record: &CaseRecord) -> String {
    let is_empty = |run: &&Run| run.outcome.ok_in_time == 0;
    let who = record.runs.iter().find(is_empty).map_or("a server", |run| &run.variant);
    say!(
        "{who} gave no answer in some runs: something else takes the time of this machine, or the runs are too short",
        who
    )
}

/// What to ask about a server that is much faster than ours.
fn far_above(over_ours: f64) -> Option<String> {
    (over_ours >= FAR_ABOVE).then(|| {
        let times = factor(over_ours);
        say!(
            "this is {times} as fast as our fix: did you drop work, or find something better? Tell us.",
            times
        )
    })
}

/// Shows how long something takes that may wait for a server, which may never answer.
async fn in_sight<T>(what: &str, work: impl Future<Output = T>) -> T {
    let (progress, start, mut work) = (Progress::new(what), Instant::now(), pin!(work));
    loop {
        match timeout(Duration::from_secs(1), &mut work).await {
            Ok(done) => return done,
            Err(_) => progress.waiting(what, start.elapsed()),
        }
    }
}

/// How long [`check`] takes if the fix passes.
pub fn length(case: &Case, effort: Effort) -> Duration {
    let runs = |of, effort: Effort| effort.length(of, case.load, case.arrivals_per_s.is_some());
    // With the runs of our fix, which most fixes are far enough above `speed` to get.
    FIRST_GATES + ASKED + runs(2, effort) + runs(1, effort)
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
                (mark(self.speedup, criteria.speed), speedup_or(&say!("no factor"), self.speedup))
            }
            None => (Mark::Undecided, starved(record)),
        };
        let needed = say!("at least {least}", least = factor(criteria.speed));
        self.push(Gate { gate: "speed", mark, measured, needed });
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

    #[test]
    fn a_server_far_above_ours_gets_a_question() {
        assert_eq!(far_above(2.9), None);
        assert!(far_above(5.0).unwrap().starts_with("this is 5.00× as fast as our fix"));
    }
}

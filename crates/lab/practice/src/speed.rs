//! The last gate: how much faster the reader's server is, in pairs of runs under the load of the case.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use lab_cases::{Case, Criteria, FIXED, MINE, SLOW};
use lab_load::Visitor;
use lab_measure::bench::{Effort, Experiment, Runs, assess, run};
use lab_protocol::Request;
use lab_report::{CaseRecord, Run, factor, speedup_or, translate};
use lab_servers::{Launch, Running};
use lab_stats::Speedup;
use lab_system::Progress;

use crate::{
    asked::expected,
    draw::{Draw, Phase},
    in_sight::in_sight,
    report::{Gate, Mark, Report},
    servers::Servers,
};

/// A fix that is so many times as fast as ours gets a question.
const FAR_ABOVE: f64 = 3.0;

/// How long `slow` is asked for the answers to the drawn requests. It answers fewer of them in a run, so a cache
/// that is empty at the start of a run is of no use.
pub(super) const ASKED: Duration = Duration::from_millis(1_500);
/// The least and the most requests, if `slow` is very slow or very quick.
const BOUNDS: (usize, usize) = (32, 8_192);
/// How many requests are asked for together, by users with as many each.
const TOGETHER: (usize, usize) = (4, 8);

/// Measures the reader's variant against `slow`, and adds the gate to the report.
pub(super) async fn judge(
    servers: &Servers,
    case: &Case,
    criteria: &Criteria,
    effort: Effort,
    report: &mut Report,
) -> anyhow::Result<()> {
    let load = DrawnLoad::draw(servers, case, criteria, report.seed);
    let load = in_sight(&translate!("asking slow for the answers"), load).await?;
    let record = load.compare([SLOW, MINE], effort).await?;
    report.speedup = record.speedup.of(record.metric).copied();
    report.speedups = Some(record.speedup);
    report.push(gate(&record, report.speedup, criteria.speed));
    let is_far = |found: Speedup| found.estimate >= FAR_ABOVE * criteria.speed;
    if report.is_passed() && report.speedup.is_some_and(is_far) {
        report.notes.extend(question(&load, effort, &record).await?);
    }
    Ok(())
}

/// How the gate of the speed ended.
fn gate(record: &CaseRecord, speedup: Option<Speedup>, least: f64) -> Gate {
    let fault = record.variant(MINE).and_then(|variant| variant.requests.first_fault.clone());
    let (mark, measured) = match fault {
        Some(fault) => (Mark::NotYet, fault),
        None if record.is_clean() => {
            (mark(speedup, least), speedup_or(&translate!("no factor"), speedup))
        }
        None => (Mark::Undecided, starved(record)),
    };
    Gate {
        gate: "speed",
        mark,
        measured,
        needed: translate!("at least {least}", least = factor(least)),
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

/// A sentence that names the server with too few answers to be judged.
fn starved(record: &CaseRecord) -> String {
    let is_empty = |run: &&Run| run.outcome.ok_in_time == 0;
    let who = record.runs.iter().find(is_empty).map_or("a server", |run| &run.variant);
    translate!(
        "{who} gave no answer in some runs: something else takes the time of this machine, or the runs are too short",
        who
    )
}

/// Compares the reader's server with ours, too, and asks about one that is much faster. Two runs are enough for a
/// question.
async fn question(
    load: &DrawnLoad<'_>,
    effort: Effort,
    record: &CaseRecord,
) -> anyhow::Result<Option<String>> {
    let ours = load.compare([FIXED], effort).await?;
    let figure = |of: &CaseRecord, variant| of.variant(variant)?.figure(record.metric);
    let both = figure(record, MINE).zip(figure(&ours, FIXED));
    Ok(both.and_then(|(mine, ours)| far_above(mine / ours)))
}

/// A question about a server that is much faster than ours.
fn far_above(over_ours: f64) -> Option<String> {
    (over_ours >= FAR_ABOVE).then(|| {
        let times = factor(over_ours);
        translate!(
            "this is {times} as fast as our fix: did you drop work, or find something better? Tell us.",
            times
        )
    })
}

/// The load of a check: the case with the wait that was drawn, and the drawn requests.
struct DrawnLoad<'a> {
    servers: &'a Servers,
    case: Case,
    /// Empty if the case draws none.
    requests: Vec<Request>,
    /// Has their bodies.
    _draw: Draw,
}

impl<'a> DrawnLoad<'a> {
    async fn draw(
        servers: &'a Servers,
        case: &Case,
        criteria: &Criteria,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut draw = Draw::of(seed, Phase::Speed)?;
        let (case, _) = draw.wait(case);
        let slow = servers.launch(&case, SLOW)?;
        let requests = if criteria.timed.is_empty() {
            Vec::new()
        } else {
            drawn(&slow, &criteria.timed, &mut draw).await?
        };
        Ok(Self { servers, case, requests, _draw: draw })
    }

    /// Measures variants, the last one against the first; one alone gets the two runs of its control.
    async fn compare<const N: usize>(
        &self,
        variants: [&str; N],
        effort: Effort,
    ) -> anyhow::Result<CaseRecord> {
        let names = variants.map(str::to_owned);
        let workspace = self.servers.workspace();
        let mut experiment = Experiment::of_case(workspace, &self.case, &names, effort)?;
        for subject in &mut experiment.subjects {
            subject.launch = self.servers.launch(&self.case, &subject.name)?;
            if !self.requests.is_empty() {
                subject.requests.clone_from(&self.requests);
            }
        }
        experiment.engine.options.in_turn = !self.requests.is_empty();
        let mut runs = Runs::default();
        run(&experiment, &Progress::planned(experiment.length()), &mut runs).await?;
        assess(&experiment, &runs, variants[N - 1])
    }
}

/// Many requests, with the answers that `slow` gives.
async fn drawn(slow: &Launch, lines: &[String], draw: &mut Draw) -> anyhow::Result<Vec<Request>> {
    Running::with(slow, async |Running { server, .. }| {
        let (start, mut all) = (Instant::now(), Vec::new());
        let (fewest, most) = BOUNDS;
        let (users, each) = TOGETHER;
        while all.len() < fewest || (all.len() < most && start.elapsed() < ASKED) {
            let several: Vec<_> = lines.iter().cloned().cycle().take(users * each).collect();
            let mut requests = draw.requests(&several)?;
            let visit =
                async |requests| Visitor::open(server.target(), requests).await?.answers().await;
            let right = try_join_all(requests.chunks(each).map(visit)).await?.concat();
            requests
                .iter_mut()
                .zip(right)
                .for_each(|(request, right)| request.expected = expected(right));
            all.extend(requests);
        }
        Ok(all)
    })
    .await
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

//! The earlier comparison that `lab compare --more` adds pairs to.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, bail, ensure};
use jiff::{SignedDuration, Timestamp};
use lab_measure::bench::Experiment;
use lab_protocol::{Metric, Reason};
use lab_report::{
    CaseRecord, NOISE, Record, Run, Store, code, join, notes, paragraph, planned, plural,
    plus_minus,
};
use lab_stats::{Verdict, median_of};

/// The longest that its figures are worth something next to new ones.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);
/// Seconds in which a run's server and generator start and stop.
const START_S: f64 = 0.2;
/// Flags that change neither what is compared nor how.
const FREE: [&str; 5] = ["--more", "--json", "--verbose", "-v", "--quick"];
/// The same for those with a value.
const FREE_WITH_VALUE: [&str; 3] = ["--limit", "--interval", "--deny"];

/// The newest record of the same command, if it is an hour old at most.
///
/// # Errors
///
/// If no comparison of the last hour had this command, or if more pairs can't be added to it.
pub fn earlier(store: &Store, now: &Record) -> anyhow::Result<Record> {
    let command = compared(&now.command);
    for path in store.paths()?.iter().rev() {
        let Ok(record) = lab_report::read(path) else { continue };
        if record.created + LONGEST < Timestamp::now() {
            break;
        }
        if !record.is_of_own_servers() || compared(&record.command) != command {
            continue;
        }
        ensure!(
            record.cases.iter().all(|case| case.sequential),
            "the earlier comparison had a fixed number of --pairs, which is all that its intervals hold for: leave out --more"
        );
        let has_faults = record.cases.iter().any(CaseRecord::has_faults);
        ensure!(
            !has_faults,
            "answers of the earlier comparison were wrong or missing: leave out --more"
        );
        return Ok(record);
    }
    bail!("no comparison of the last hour has this command: leave out --more")
}

/// Fails unless both measure the same programs.
///
/// # Errors
///
/// If a program or a file that its command names has changed.
pub fn ensure_same(experiment: &Experiment, earlier: &[CaseRecord]) -> anyhow::Result<()> {
    let variants = || earlier.iter().flat_map(|case| &case.variants);
    for subject in &experiment.subjects {
        let before = variants().find(|variant| variant.variant == subject.name);
        let before =
            before.with_context(|| format!("the earlier comparison has no {}", subject.name))?;
        ensure!(
            before.program == subject.program,
            "the {} has changed since the earlier comparison: leave out --more",
            subject.name
        );
    }
    Ok(())
}

/// What to say at the end of a comparison that didn't reach what it was for; `None` if it did. `interval`: how far the
/// ends were to be from the estimate.
pub fn advice(case: &CaseRecord, interval: Option<f64>) -> Option<String> {
    if !case.sequential || case.has_faults() {
        return None;
    }
    let found = case.speedup.of(case.metric)?;
    // The pairs of benches take seconds, and are measured anew.
    let is_bench = case.metric == Metric::Time;
    let longer = if is_bench {
        "the same command with a longer --limit measures more pairs"
    } else {
        "the same command with --more and a longer --limit adds to these pairs"
    };
    let advice = match interval {
        Some(target) if !found.is_confident() => {
            let needed = plus_minus(1.0 + target);
            format!("The limit came before the first look, so {needed} is far: {longer}.")
        }
        Some(target) if found.width() > 1.0 + target => {
            let [width, wanted] = [found.width(), 1.0 + target].map(plus_minus);
            // The width of an interval shrinks with the root of the number of its pairs.
            let times = (found.width().ln() / target.ln_1p()).powi(2);
            let pairs = (case.pairs as f64 * times).ceil() as usize;
            let minutes = seconds_of_pair(case).map_or(String::new(), |seconds| {
                let left = (pairs - case.pairs) as f64 * seconds;
                format!(", {} more", planned(Duration::from_secs_f64(left)))
            });
            let why = widened_by(case);
            format!(
                "The interval is {width}. For {wanted}, it takes about {}{minutes}: {longer}.{why}",
                plural(pairs, "pair")
            )
        }
        None if case.verdict == Verdict::Undecided && matches!(case.reason, Reason::Rule(_)) => {
            let how = if is_bench {
                "a longer --limit measures more"
            } else {
                "--more adds pairs to these"
            };
            format!("The same command with {how}.")
        }
        _ => return None,
    };
    Some(format!("  {}", paragraph(&advice).trim_start()))
}

/// What makes the interval wide, as far as the notes say.
fn widened_by(case: &CaseRecord) -> String {
    let causes: BTreeSet<_> = notes(case)
        .iter()
        .filter_map(code)
        .filter(|code| NOISE.contains(&&**code) || code == "few-answers")
        .collect();
    if causes.is_empty() {
        String::new()
    } else {
        format!(" What widens it: {}.", join(&causes.into_iter().collect::<Vec<_>>()))
    }
}

/// How long a pair took, from the lengths of its runs.
fn seconds_of_pair(case: &CaseRecord) -> Option<f64> {
    let runs = if case.open_runs.iter().any(|run| run.pair.is_some()) {
        &case.open_runs
    } else {
        &case.runs
    };
    // A bench has no warm-up, and its run is the whole process.
    let start = if case.warm_up_s > 0.0 { START_S + case.warm_up_s } else { 0.0 };
    let length = |run: &Run| run.outcome.measured.as_secs_f64();
    Some(2.0 * (start + median_of(runs.iter().map(length))?))
}

/// A command without what may differ.
fn compared(command: &[String]) -> Vec<&str> {
    let mut words = command.iter().skip(1).map(String::as_str);
    let mut compared = Vec::new();
    while let Some(word) = words.next() {
        if FREE_WITH_VALUE.contains(&word) {
            words.next();
            continue;
        }
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        if !FREE.contains(&word) && !FREE_WITH_VALUE.contains(&name) {
            compared.push(word);
        }
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_compared_and_how_has_to_be_the_same() {
        let of = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let [one, more, other] = [
            "lab compare a b --get / --limit 60s --json",
            "/bin/lab compare a b --get / --more --interval=3%",
            "lab compare a b --get /x --more",
        ]
        .map(of);
        assert_eq!(compared(&one), compared(&more));
        assert_ne!(compared(&one), compared(&other));
    }
}

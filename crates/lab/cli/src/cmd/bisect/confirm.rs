//! The change that was found, alone: the state before it against the state after it, in new runs.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use lab_measure::{
    Programs,
    bench::{Effort, Runs, Until, assess_each, run},
    micro,
};
use lab_report::CaseRecord;
use lab_stats::Look;
use lab_system::Progress;

use super::{programs::programs, states::States};

/// The smallest effect that matters.
const MINIMUM_EFFECT: f64 = 0.03;
/// Twice the pairs that showed the difference between the ends, and at most so many.
const MOST_PAIRS: usize = 96;

/// The record of both states, in runs as short as those of the search. `pairs` is how many showed that the ends differ.
///
/// # Errors
///
/// If one can't be built or measured, or if an answer is wrong or missing.
pub async fn confirm(
    states: &mut States<'_>,
    change: usize,
    pairs: usize,
    effort: Effort,
) -> anyhow::Result<CaseRecord> {
    let mut built = [states.build(change - 1).await?, states.build(change).await?];
    states.revisions.compare_builds(&mut built).await?;
    let (mut both, mut all_notes) = (Vec::new(), Vec::new());
    all_notes.extend(states.answers.iter().flat_map(|(_, notes)| notes.clone()));
    for (state, built) in [change - 1, change].into_iter().zip(&built) {
        let (program, notes) = states.checked(state, built).await?;
        both.push(program);
        all_notes.extend(notes);
    }
    let pairs = (2 * pairs).clamp(Look::first(1).pairs, MOST_PAIRS);
    let until = Until::Pairs(pairs);
    let effort =
        Effort { until, minimum_effect: MINIMUM_EFFECT, open_loop: Duration::ZERO, ..effort };
    let case = match programs(states.options, both, effort)? {
        Programs::Servers(mut experiment) => {
            experiment.notes = all_notes;
            let progress = Progress::planned(experiment.length());
            let mut runs = Runs::default();
            run(&experiment, &progress, &mut runs).await?;
            assess_each(&experiment, &runs)?.pop().context("there is a candidate")?
        }
        Programs::Benches { sides, name, .. } => {
            let of_benches = |_, _| until;
            let cases = micro::compare(&states.what.name, &sides, of_benches, effort).await?;
            let is_it = |case: &&CaseRecord| cases.len() == 1 || case.case.as_str() == name;
            cases.iter().find(is_it).cloned().context("the benchmark has a time")?
        }
    };
    ensure!(
        !case.has_faults(),
        "some answers were wrong or missing while the change was confirmed"
    );
    Ok(case)
}

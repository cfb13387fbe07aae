//! Judges the reader's fix: right answers, then the mechanism, then speed.

use std::time::Duration;

use lab_cases::{Case, Criteria};
use lab_measure::bench::Effort;
use lab_report::translate;

use crate::{
    answers, commit, counts,
    difference::Found,
    in_sight::in_sight,
    overtaking,
    report::Report,
    servers::Servers,
    source::criteria,
    speed::{self, ASKED},
};

/// How long the gates without a clock take, for most cases.
const FIRST_GATES: Duration = Duration::from_secs(4);

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
    let changed = commit::changed(servers.workspace()).await;
    let mut report = Report::begun(case, seed, &changed);
    let compared = answers::compare(servers, case, criteria, seed);
    report.add("answers", in_sight(&translate!("comparing the answers"), compared).await?);
    if report.is_passed() {
        report.add("mechanism", mechanism(servers, case, criteria, seed).await?);
    }
    if let Some(effort) = effort
        && report.is_passed()
    {
        speed::judge(servers, case, criteria, effort, &mut report).await?;
    }
    Ok(report)
}

/// The second gate: exact counts, then the order of the answers, as far as the case has limits for them.
async fn mechanism(
    servers: &Servers,
    case: &Case,
    criteria: &Criteria,
    seed: u64,
) -> anyhow::Result<Found> {
    let mut met = Vec::new();
    if criteria.is_counted() {
        let counted = counts::counts(servers, case, criteria, seed);
        match in_sight(&translate!("counting"), counted).await? {
            Ok(found) => met.push(found),
            refused => return Ok(refused),
        }
    }
    if let Some(wanted) = &criteria.overtaking {
        let race = overtaking::overtaking(servers.of_mine(criteria), case, wanted, seed);
        match in_sight(&translate!("sending quick requests between slow ones"), race).await? {
            Ok(found) => met.push(found),
            refused => return Ok(refused),
        }
    }
    Ok(Ok(met
        .into_iter()
        .reduce(|one, other| translate!("{one}; {other}", one, other))
        .unwrap_or_default()))
}

/// How long [`check`] takes if the fix passes.
pub fn length(case: &Case, effort: Effort) -> Duration {
    let runs = |count| effort.length(count, case.load, case.arrivals_per_s.is_some());
    // With the runs of our fix, which most fixes are far enough above `speed` to get.
    FIRST_GATES + ASKED + runs(2) + runs(1)
}

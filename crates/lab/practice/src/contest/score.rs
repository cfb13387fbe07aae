//! The score of a run: visits per second that were answered right and within the objective of their kind.
//!
//! At each level of load, a *share* of the visits is good. The score is the integral of this share over the visits per
//! second: of a service that answers all visits in time up to 500 per second, and none beyond, it is 500. So a change
//! never costs points because the service then gets more load.

use lab_model::{VisitEnd, Visits};
use serde::Serialize;

use super::course::{ContestCourse, DrawnVisit};

/// One late visit is chance, whatever share it is.
const FEWEST_LATE: usize = 2;
/// At a level with a smaller share of good visits, the service is overloaded.
const BROKEN: f64 = 0.5;

/// What a run has shown.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    pub per_s: f64,
    /// The share of good visits at each level, as far as the run went.
    pub shares: Vec<f64>,
    /// Of the objectives that failed at the first level at which one did, the one with the most late visits.
    pub first: Option<MissedObjective>,
    /// The same at the level at which the service was overloaded.
    pub overloaded: Option<MissedObjective>,
}

/// An objective that a service failed.
#[derive(Clone, Debug, Serialize)]
pub struct MissedObjective {
    pub kind: String,
    pub p99_ms: f64,
    pub objective_ms: f64,
    /// The visits of all kinds per second at that level.
    pub rate_per_s: f64,
    late: usize,
}

impl Score {
    /// From the visits of each level.
    pub(super) fn of(course: &ContestCourse, levels: &[Visits]) -> Self {
        let shares: Vec<_> = levels.iter().map(|visits| share(course, visits)).collect();
        let below = std::iter::once(0.0).chain(course.levels_per_s.iter().copied());
        let steps = course.levels_per_s.iter().zip(below).map(|(level, below)| level - below);
        let per_s = shares.iter().zip(steps).map(|(share, step)| share * step).sum();
        let missed = |level: usize| missed(course, &levels[level], course.levels_per_s[level]);
        let overloaded = shares.iter().position(|share| *share < BROKEN);
        Self {
            per_s,
            first: (0..levels.len()).find_map(missed),
            overloaded: overloaded.and_then(missed),
            shares,
        }
    }
}

/// Whether more load would show nothing. At a single level, it may have been bad luck.
pub(super) fn is_overloaded(course: &ContestCourse, levels: &[Visits]) -> bool {
    levels.iter().filter(|visits| share(course, visits) < BROKEN).count() >= 2
}

/// The share of the visits that were answered right and in time.
fn share(course: &ContestCourse, visits: &Visits) -> f64 {
    let is_good = |row: &usize| {
        let is_right = match visits.answer[*row] {
            VisitEnd::Right => true,
            // The second right answer is for times in which there is no other.
            VisitEnd::Other => course.is_disturbed(visits.due_us[*row] as f64 / 1e6),
            VisitEnd::Wrong | VisitEnd::Failed | VisitEnd::Unfinished => false,
        };
        let objective_ms = course.visits[usize::from(visits.kind[*row])].objective_ms;
        is_right && latency_ms(visits, *row) <= objective_ms
    };
    let all = visits.kind.len();
    (0..all).filter(is_good).count() as f64 / all.max(1) as f64
}

/// Of the objectives that failed at a level, the one with the most late visits.
fn missed(course: &ContestCourse, visits: &Visits, rate_per_s: f64) -> Option<MissedObjective> {
    let missed_by = |(kind, drawn): (usize, &DrawnVisit)| {
        let rows = (0..visits.kind.len()).filter(|row| usize::from(visits.kind[*row]) == kind);
        let mut latencies: Vec<_> = rows.map(|row| latency_ms(visits, row)).collect();
        latencies.sort_by(f64::total_cmp);
        let objective_ms = drawn.objective_ms;
        let late = latencies.iter().filter(|it| **it > objective_ms).count();
        let p99_ms = *latencies.get((latencies.len() * 99).div_ceil(100).checked_sub(1)?)?;
        let kind = drawn.name.clone();
        let is_missed = late >= FEWEST_LATE && p99_ms > objective_ms;
        is_missed.then_some(MissedObjective { kind, p99_ms, objective_ms, rate_per_s, late })
    };
    course.visits.iter().enumerate().filter_map(missed_by).max_by_key(|it| it.late)
}

fn latency_ms(visits: &Visits, row: usize) -> f64 {
    visits.latency_us[row] as f64 / 1e3
}

//! The score of a run: visits per second that were answered right and within the objective of their kind.
//!
//! A *level* of load counts by its good visits less the others: from 1, if all are good, to 0, if half of them or fewer
//! are. The score is the integral of this over the visits per second: of a service that answers all visits in time up
//! to 500 per second, and none beyond, it is 500. So a change never costs points because the service then gets more
//! load, and where a run ends doesn't matter, because nothing counts there.

use lab_protocol::{VisitEnd, Visits};
use serde::Serialize;

use super::{
    climb::{Point, integral},
    course::{ContestCourse, DrawnVisit},
};

/// The fewest late visits that fail an objective. One late visit is chance, whatever its share.
const FEWEST_LATE: usize = 2;

/// A level of load, and its visits.
#[derive(Debug)]
pub(super) struct VisitedLevel {
    pub rate_per_s: f64,
    pub visits: Visits,
}

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    pub per_s: f64,
    /// From the lowest rate to the highest.
    pub levels: Vec<ShareAt>,
    /// The objective that failed first: at the lowest rate at which any failed, the objective with the most late
    /// visits.
    pub first: Option<MissedObjective>,
    /// The objective with the most late visits, at the lowest rate at which the service was overloaded.
    pub overloaded: Option<MissedObjective>,
}

/// The share of good visits at a level.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ShareAt {
    pub rate_per_s: f64,
    pub share: f64,
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
    pub(super) fn of(course: &ContestCourse, levels: &[VisitedLevel]) -> Self {
        let mut rising: Vec<_> = levels.iter().collect();
        rising.sort_by(|one, other| one.rate_per_s.total_cmp(&other.rate_per_s));
        let points: Vec<_> = rising.iter().map(|level| point(course, level)).collect();
        let missed = |level: &&VisitedLevel| missed(course, &level.visits, level.rate_per_s);
        let share_at = |level: &&VisitedLevel| {
            let VisitedLevel { rate_per_s, visits } = level;
            ShareAt { rate_per_s: *rate_per_s, share: share(course, visits) }
        };
        let overloaded = points.iter().position(|point| point.worth == 0.0);
        Self {
            per_s: integral(&points),
            levels: rising.iter().map(share_at).collect(),
            first: rising.iter().find_map(missed),
            overloaded: overloaded.and_then(|level| missed(&rising[level])),
        }
    }
}

/// The level's point: its good visits less the others, and at least 0.
pub(super) fn point(course: &ContestCourse, level: &VisitedLevel) -> Point {
    let worth = (2.0 * share(course, &level.visits) - 1.0).max(0.0);
    Point { rate_per_s: level.rate_per_s, worth }
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

/// The failed objective of a level that has the most late visits.
fn missed(course: &ContestCourse, visits: &Visits, rate_per_s: f64) -> Option<MissedObjective> {
    let missed_by = |(kind, drawn): (usize, &DrawnVisit)| {
        let rows = (0..visits.kind.len()).filter(|row| usize::from(visits.kind[*row]) == kind);
        let mut latencies: Vec<_> = rows.map(|row| latency_ms(visits, row)).collect();
        latencies.sort_by(f64::total_cmp);
        let objective_ms = drawn.objective_ms;
        let late = latencies.iter().filter(|latency| **latency > objective_ms).count();
        let p99_ms = *latencies.get((latencies.len() * 99).div_ceil(100).checked_sub(1)?)?;
        let kind = drawn.name.clone();
        let is_missed = late >= FEWEST_LATE && p99_ms > objective_ms;
        is_missed.then_some(MissedObjective { kind, p99_ms, objective_ms, rate_per_s, late })
    };
    course.visits.iter().enumerate().filter_map(missed_by).max_by_key(|objective| objective.late)
}

fn latency_ms(visits: &Visits, row: usize) -> f64 {
    visits.latency_us[row] as f64 / 1e3
}

//! The score of a run: visits per second that were answered right and within the objective of their kind.

use lab_model::{VisitEnd, Visits};
use serde::Serialize;

use super::course::{ContestCourse, DrawnVisit, LoadPart};

/// How many parts of a load that rises are looked at for the objectives.
const STEPS: usize = 12;
/// One late visit is chance, whatever share it is.
const FEWEST_LATE: usize = 2;

/// What a run has shown.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// While the load was steady.
    pub per_s: f64,
    /// The visits per second that it managed while the load rose.
    pub managed_per_s: f64,
    /// The first objective that failed while the load rose.
    pub rising: Option<MissedObjective>,
    /// Of those that failed while the load was steady, the one with the most late visits.
    pub steady: Option<MissedObjective>,
}

/// An objective that a service failed.
#[derive(Clone, Debug, Serialize)]
pub struct MissedObjective {
    pub kind: String,
    pub p99_ms: f64,
    pub objective_ms: f64,
    /// The visits of all kinds per second at that time.
    pub rate_per_s: f64,
    late: usize,
}

impl Score {
    pub(super) fn of(
        course: &ContestCourse,
        rise: &Visits,
        managed_per_s: f64,
        steady: &Visits,
    ) -> Self {
        let rising = (0..STEPS).find_map(|step| {
            let due_s = |step: usize| step as f64 * course.rise_s / STEPS as f64;
            let rate_per_s = course.rising(0).rate_after(due_s(step));
            let missed = missed(course, rise, rate_per_s, |at_s| {
                (due_s(step)..due_s(step + 1)).contains(&at_s)
            });
            missed.into_iter().max_by(|one, other| one.factor().total_cmp(&other.factor()))
        });
        let rate_per_s = course.steady(managed_per_s, 0).rate_per_s;
        let missed = missed(course, steady, rate_per_s, |_| true);
        Self {
            per_s: good(course, steady, LoadPart::Steady) as f64 / course.steady_s,
            managed_per_s,
            rising,
            steady: missed.into_iter().max_by_key(|it| it.late),
        }
    }
}

impl MissedObjective {
    fn factor(&self) -> f64 {
        self.p99_ms / self.objective_ms
    }
}

/// How many visits were answered right and in time.
pub(super) fn good(course: &ContestCourse, visits: &Visits, part: LoadPart) -> usize {
    let is_good = |row: &usize| {
        let is_right = match visits.answer[*row] {
            VisitEnd::Right => true,
            // The second right answer is for times in which there is no other.
            VisitEnd::Other => part == LoadPart::Steady && course.is_disturbed(due_s(visits, *row)),
            VisitEnd::Wrong | VisitEnd::Failed | VisitEnd::Unfinished => false,
        };
        let objective_ms = course.visits[usize::from(visits.kind[*row])].objective_ms;
        is_right && latency_ms(visits, *row) <= objective_ms
    };
    (0..visits.kind.len()).filter(is_good).count()
}

/// The objectives that the visits of some time failed.
fn missed(
    course: &ContestCourse,
    visits: &Visits,
    rate_per_s: f64,
    is_of_time: impl Fn(f64) -> bool,
) -> Vec<MissedObjective> {
    let missed_by = |(kind, drawn): (usize, &DrawnVisit)| {
        let of_kind =
            |row: &usize| usize::from(visits.kind[*row]) == kind && is_of_time(due_s(visits, *row));
        let rows = (0..visits.kind.len()).filter(of_kind);
        let mut latencies: Vec<_> = rows.map(|row| latency_ms(visits, row)).collect();
        latencies.sort_by(f64::total_cmp);
        let objective_ms = drawn.objective_ms;
        let late = latencies.iter().filter(|it| **it > objective_ms).count();
        let p99_ms = *latencies.get((latencies.len() * 99).div_ceil(100).checked_sub(1)?)?;
        let is_missed = late >= FEWEST_LATE && p99_ms > objective_ms;
        is_missed.then(|| MissedObjective {
            kind: drawn.name.clone(),
            p99_ms,
            objective_ms,
            rate_per_s,
            late,
        })
    };
    course.visits.iter().enumerate().filter_map(missed_by).collect()
}

fn due_s(visits: &Visits, row: usize) -> f64 {
    visits.due_us[row] as f64 / 1e6
}

fn latency_ms(visits: &Visits, row: usize) -> f64 {
    visits.latency_us[row] as f64 / 1e3
}

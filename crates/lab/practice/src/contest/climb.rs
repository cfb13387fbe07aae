//! Chooses the levels of load of a run: a climb in large steps until the service is overloaded, then levels where the
//! share of good visits falls. So most of a run is spent where the score is decided, and one level decides little of
//! it.

use super::course::ContestCourse;

/// From one level of the climb to the next.
const STEP: f64 = 1.8;
/// The number of levels of a run.
pub(super) const LEVELS: usize = 9;

/// A level's visits per second, and how much they count, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub rate_per_s: f64,
    pub worth: f64,
}

/// Visits per second of the next level, if there is one.
pub(super) fn next_rate(course: &ContestCourse, done: &[Point]) -> Option<f64> {
    if done.len() == LEVELS {
        return None;
    }
    let highest = done.iter().map(|point| point.rate_per_s).fold(0.0, f64::max);
    let is_overloaded = done.iter().any(|point| point.worth == 0.0);
    let sent: f64 = done.iter().map(|point| point.rate_per_s * course.level_s).sum();
    let is_possible = |rate_per_s: &f64| sent + rate_per_s * course.level_s <= course.most_visits;
    let climb = if done.is_empty() { course.first_per_s } else { highest * STEP };
    if !is_overloaded && is_possible(&climb) {
        return Some(climb);
    }
    // The interval that leaves most of the score open. Squared, because small differences are chance.
    let open = |[low, high]: &[Point; 2]| {
        (low.worth - high.worth).powi(2) * (high.rate_per_s - low.rate_per_s)
    };
    let intervals = intervals(done);
    let widest = intervals.iter().max_by(|one, other| open(one).total_cmp(&open(other)))?;
    Some(f64::midpoint(widest[0].rate_per_s, widest[1].rate_per_s)).filter(is_possible)
}

/// The integral of what the visits count, over the visits per second.
pub(super) fn integral(done: &[Point]) -> f64 {
    let area = |[low, high]: &[Point; 2]| {
        f64::midpoint(low.worth, high.worth) * (high.rate_per_s - low.rate_per_s)
    };
    intervals(done).iter().map(area).sum()
}

/// Between neighbouring levels, and from none at all, where every visit would be good.
fn intervals(done: &[Point]) -> Vec<[Point; 2]> {
    let mut points = vec![Point { rate_per_s: 0.0, worth: 1.0 }];
    points.extend(done);
    points.sort_by(|one, other| one.rate_per_s.total_cmp(&other.rate_per_s));
    points.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> ContestCourse {
        ContestCourse::without_visits(200.0, 40_000.0, 2.0)
    }

    /// A service that answers everything in time up to a rate, and nothing from a tenth more on.
    fn run(capacity: f64) -> Vec<Point> {
        let mut done = Vec::new();
        while let Some(rate_per_s) = next_rate(&course(), &done) {
            let worth = (1.0 - (rate_per_s / capacity - 1.0) * 10.0).clamp(0.0, 1.0);
            done.push(Point { rate_per_s, worth });
        }
        done
    }

    #[test]
    fn the_score_follows_the_capacity_wherever_the_levels_are() {
        for capacity in [90.0, 150.0, 370.0, 520.0, 640.0, 660.0, 1_160.0, 2_000.0] {
            let score = integral(&run(capacity));
            let right = capacity * 1.05;
            assert!((score / right - 1.0).abs() < 0.03, "{score} of {right}");
        }
    }

    #[test]
    fn most_levels_are_where_the_share_falls() {
        let rates: Vec<_> = run(600.0).iter().map(|point| point.rate_per_s).collect();
        assert_eq!(rates[..4], [200.0, 360.0, 648.0, 1_166.4]);
        assert!(rates[4..].iter().filter(|rate| (500.0..800.0).contains(*rate)).count() >= 4);
    }

    #[test]
    fn a_run_ends_before_it_runs_out_of_visits() {
        let done = run(5_000.0);
        let sent: f64 = done.iter().map(|point| point.rate_per_s * 2.0).sum();
        assert!(sent <= 40_000.0 && sent > 15_000.0);
    }
}

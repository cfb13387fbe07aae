//! The highest rate of random arrivals at which an objective holds. `lab_stats::RateSearch` says which rate comes next;
//! a [`RateCourse`] plans its run, and judges it. It starts nothing: one server keeps running, or each run has its own.

mod closed;
mod in_turns;
mod shortfall;

use std::time::Duration;

use lab_protocol::{Latency, Objective, OpenLoop, Outcome, Spacing};
use lab_report::{ObjectiveSearch, RateRun, planned, thousands};
use lab_stats::{RateInterval, RateSearch};

pub use closed::{ClosedLoop, MORE_USERS, ServedLevel};
pub use in_turns::{ObjectiveRuns, compare_objective, comparison_takes};

/// Before a run, where a server answers quickly: the queue begins empty.
const WARM_UP: Duration = Duration::from_millis(600);
/// After a run: an answer that comes later is late for sure.
const GRACE: Duration = Duration::from_millis(500);
const LONGEST_GRACE: Duration = Duration::from_secs(10);
/// From this rate on, the generator counts as a limit.
const MOST_PER_S: f64 = 200_000.0;
/// A search has at least so many runs, and not more.
const RUNS: std::ops::RangeInclusive<usize> = 10..=30;
/// How many runs a search usually takes.
const USUAL_RUNS: u32 = 20;
/// The longest pause after a run that did not hold, in which the server ends the requests that it still has.
const REST: Duration = Duration::from_secs(5);

/// A search on one server.
#[derive(Debug)]
pub struct RateCourse {
    objective: Objective,
    closed: ClosedLoop,
    search: RateSearch,
    most_runs: usize,
    runs: Vec<RateRun>,
    spacing: Spacing,
}

/// A run at the rate that is next.
#[derive(Clone, Copy, Debug)]
pub struct RatePlan {
    pub arrivals: OpenLoop,
    pub warm_up: Duration,
    pub measurement: Duration,
    pub grace: Duration,
}

impl RateCourse {
    /// A search that ends after about so long, if that leaves it enough runs.
    pub fn within(longest: Duration, objective: Objective, closed: ClosedLoop, seed: u64) -> Self {
        let lowest = objective.lowest_rate_per_s(closed.peak_per_s);
        let start = (closed.peak_per_s / 2.0).max(lowest);
        let run = (WARM_UP + objective.run_length(start)).as_secs_f64();
        let most_runs = ((longest.as_secs_f64() / run) as usize).clamp(*RUNS.start(), *RUNS.end());
        let highest = MOST_PER_S.max(2.0 * start);
        let search = RateSearch::new(start, lowest..=highest, most_runs);
        let spacing = Spacing::Random { seed };
        Self { objective, closed, search, most_runs, runs: Vec::new(), spacing }
    }

    /// `None` if the search is over, or if the server is too slow for the percentile.
    pub fn next_rate(&self) -> Option<f64> {
        let is_measurable = self.objective.is_measurable(self.closed.peak_per_s);
        self.search.next_rate().filter(|_| is_measurable)
    }

    /// A run at this rate of visits, each of which takes so long and so many connections.
    pub fn plan(&self, rate_per_s: f64, visit: Duration, per_user: usize) -> RatePlan {
        let arrivals = OpenLoop {
            connections_per_user: per_user,
            spacing: self.spacing.nth(self.runs.len()),
            ..OpenLoop::new(rate_per_s, self.closed.users * per_user)
        };
        let allowed = self.objective.allowed().min(LONGEST_GRACE);
        RatePlan {
            arrivals,
            warm_up: WARM_UP.max(visit + visit / 5),
            measurement: self.objective.run_length(rate_per_s),
            grace: GRACE.max(2 * visit).max(allowed),
        }
    }

    /// Judges the run at the rate that was next. Returns how long a server that keeps running has to rest.
    pub fn add(&mut self, rate_per_s: f64, outcome: &Outcome) -> Duration {
        let run = shortfall::rate_run(outcome, rate_per_s, self.objective, self.closed);
        self.search.add(run.end());
        self.runs.push(run);
        let rest = Duration::from_secs_f64(self.closed.users as f64 / self.closed.peak_per_s);
        if run.shortfall.is_none() { Duration::ZERO } else { rest.min(REST) }
    }

    pub fn end(self) -> ObjectiveSearch {
        let ClosedLoop { peak_per_s, users: connections, .. } = self.closed;
        let (objective, runs, found) = (self.objective, self.runs, self.search.found());
        ObjectiveSearch { objective, peak_per_s, runs, connections, found }
    }
}

/// Why searches on slow servers take longer than [`search_takes`] says; `None` if they don't.
pub fn why_long(courses: &[RateCourse]) -> Option<String> {
    let objective = courses.first()?.objective;
    let searched = courses.iter().filter(|course| course.next_rate().is_some());
    let first_run = |course: &RateCourse| objective.run_length(course.closed.peak_per_s / 2.0);
    let longest = searched.clone().map(first_run).max()?;
    if longest < 2 * objective.run_length(f64::INFINITY) {
        return None;
    }
    let all = searched.map(|course| first_run(course) * USUAL_RUNS.min(course.most_runs as u32));
    Some(format!(
        "the objective takes about {}: a {} needs {} answers in each run",
        planned(all.sum()),
        objective.percentile.name(),
        thousands(Latency::enough_for(objective.percentile.percent()))
    ))
}

/// What is known of a server that loses requests however few users it has.
pub fn not_searched(objective: Objective, peak_per_s: f64) -> ObjectiveSearch {
    let (runs, found) = (Vec::new(), RateInterval::default());
    ObjectiveSearch { objective, peak_per_s, runs, connections: 0, found }
}

/// How long the runs of a search take about, of a server that is fast enough for runs of the usual length.
pub fn search_takes(objective: Objective) -> Duration {
    USUAL_RUNS * (WARM_UP + objective.run_length(f64::INFINITY))
}

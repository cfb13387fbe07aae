//! The highest rate of random arrivals at which an objective holds. `lab_stats::RateSearch` says which rate comes next.

mod shortfall;

use std::time::{Duration, SystemTime};

use lab_measure::bench::generate;
use lab_protocol::{Arrivals, Latency, Load, LoadPlan, Objective, OpenLoop, Outcome, Spacing};
use lab_report::{paragraph, planned, significant, thousands};
use lab_stats::{RateInterval, RateSearch};
use tokio::time::sleep;

pub use shortfall::{RateRun, Shortfall};

use super::{
    Level,
    level::peak,
    stages::{GRACE, Loaded, warm_up},
};

/// A run lasts for this time at least, and for so many times what the objective allows a request: a queue that grows
/// by a few per cent of its arrivals has to show.
const SHORTEST: Duration = Duration::from_millis(2500);
const OF_OBJECTIVE: f64 = 60.0;
/// But no longer than this, unless the percentile needs more requests; and never longer than the last.
const LONG: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(30);
/// Before a run, where a server answers quickly: the queue begins empty.
const WARM_UP: Duration = Duration::from_millis(600);
/// Random arrivals may be fewer than their mean.
const MORE: f64 = 1.1;
/// Up to this share of the peak, a server counts as idle, and from this rate on, the generator as a limit.
const IDLE: f64 = 1.0 / 16.0;
const MOST_PER_S: f64 = 200_000.0;
/// All runs take about this time, but there are at least so many, and not more.
const ALL: Duration = Duration::from_secs(100);
const RUNS: std::ops::RangeInclusive<usize> = 10..=30;
/// How many runs a search usually takes.
const USUAL: u32 = 20;
/// If throughput still grows with the last users, that many more of them may be served.
const MORE_USERS: usize = 512;
const GROWS: f64 = 0.75;
/// The longest pause after a run that did not hold, in which the server ends the requests that it still has.
const REST: Duration = Duration::from_secs(5);

/// A search for the highest rate of visits at which an objective holds.
#[derive(Clone, Debug)]
pub struct ObjectiveSearch {
    pub objective: Objective,
    /// The highest rate in the closed loop.
    pub peak_per_s: f64,
    /// In their order; empty if the server is too slow for a percentile.
    pub runs: Vec<RateRun>,
    pub connections: usize,
    pub found: RateInterval,
}

/// What the closed loop has shown of the server before.
#[derive(Clone, Copy, Debug)]
struct ClosedLoop {
    peak_per_s: f64,
    /// How long a visit takes that meets no other.
    alone_s: f64,
    /// The most users that were all served.
    users: usize,
    /// Whether throughput still grew with the last of them.
    grows: bool,
}

impl ClosedLoop {
    /// `None` if no level had all its answers.
    fn of(levels: &[Level]) -> Option<Self> {
        let served = levels.iter().filter(|level| level.lost == 0 && level.outcome.failed == 0);
        let users = served.clone().map(|level| level.users).max()?;
        let alone = levels.first()?.outcome.throughput();
        let grows = match levels {
            [.., before, last] => last.users == users && grows(before.rate(), last.rate()),
            _ => false,
        };
        (alone > 0.0).then(|| Self { peak_per_s: peak(levels), alone_s: 1.0 / alone, users, grows })
    }

    /// The same, if so many more users were served.
    fn with(self, users: usize, outcome: &Outcome) -> Self {
        let faults = outcome.wrong + outcome.failed + outcome.lost;
        let more = outcome.throughput();
        if faults > 0 || more < self.peak_per_s {
            return self;
        }
        let grows = grows((self.users, self.peak_per_s), (users, more));
        Self { peak_per_s: more, users, grows, ..self }
    }
}

/// Whether throughput grows nearly as the users do.
fn grows(before: (usize, f64), last: (usize, f64)) -> bool {
    last.1 / before.1 >= GROWS * last.0 as f64 / before.0 as f64
}

impl Level {
    fn rate(&self) -> (usize, f64) {
        (self.users, self.outcome.throughput())
    }
}

/// How many visits a run needs on average.
fn needed(objective: Objective) -> f64 {
    MORE * Latency::enough_for(objective.percentile.percent())
}

/// How long a run at this rate lasts.
fn length(objective: Objective, rate_per_s: f64) -> Duration {
    let of_objective = Duration::from_secs_f64(OF_OBJECTIVE * objective.below_ms / 1e3);
    let of_requests = Duration::from_secs_f64(needed(objective) / rate_per_s);
    of_objective.clamp(SHORTEST, LONG).max(of_requests).min(LONGEST)
}

/// The lowest rate that a run can be long enough for, if the peak is this.
fn lowest_per_s(objective: Objective, peak_per_s: f64) -> f64 {
    (IDLE * peak_per_s).max(needed(objective) / LONGEST.as_secs_f64())
}

/// Whether a percentile of a server with this peak can be measured.
pub fn is_measurable(objective: Objective, peak_per_s: f64) -> bool {
    lowest_per_s(objective, peak_per_s) < peak_per_s
}

/// How long a search takes about.
pub fn expected(objective: Objective) -> Duration {
    // Of a server that is fast enough for runs of the usual length.
    USUAL * (WARM_UP + length(objective, f64::INFINITY))
}

impl Loaded<'_> {
    /// `None` without an objective. Without runs if the server loses requests however few users it has.
    pub(super) async fn objective(
        &self,
        levels: &[Level],
    ) -> anyhow::Result<Option<ObjectiveSearch>> {
        let Some(objective) = self.triage.objective else { return Ok(None) };
        let Some(closed) = ClosedLoop::of(levels) else {
            let (peak_per_s, found) = (peak(levels), RateInterval::default());
            let none =
                ObjectiveSearch { objective, peak_per_s, runs: vec![], connections: 0, found };
            return Ok(Some(none));
        };
        let closed = if closed.grows { self.more_users(closed).await? } else { closed };
        let peak_per_s = closed.peak_per_s;
        let lowest = lowest_per_s(objective, peak_per_s);
        let start = (peak_per_s / 2.0).max(lowest);
        let length_of_run = length(objective, start);
        let most_runs = (ALL.as_secs_f64() / (WARM_UP + length_of_run).as_secs_f64()) as usize;
        let most_runs = most_runs.clamp(*RUNS.start(), *RUNS.end());
        let highest = MOST_PER_S.max(2.0 * start);
        let mut search = RateSearch::new(start, lowest..=highest, most_runs);
        let mut runs = Vec::new();
        if is_measurable(objective, peak_per_s) {
            self.say_how_long(objective, length_of_run, most_runs);
            let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64);
            while let Some(rate) = search.next_rate() {
                let spacing = Spacing::Random { seed }.nth(runs.len());
                let Some(run) = self.at_rate(rate, objective, closed, spacing).await? else {
                    break;
                };
                search.add(run.end());
                runs.push(run);
            }
        }
        Ok(Some(ObjectiveSearch {
            objective,
            peak_per_s,
            runs,
            connections: closed.users,
            found: search.found(),
        }))
    }

    /// A slow server takes longer than was said before.
    fn say_how_long(&self, objective: Objective, length: Duration, most_runs: usize) {
        if length < 2 * self::length(objective, f64::INFINITY) {
            return;
        }
        let [percentile, time] =
            [objective.percentile.name().to_owned(), planned(length * USUAL.min(most_runs as u32))];
        let answers = thousands(Latency::enough_for(objective.percentile.percent()));
        self.triage.progress.note(&paragraph(&format!(
            "the objective takes about {time}: a {percentile} needs {answers} answers in each run"
        )));
    }

    /// What more users get, if the server serves them and the system allows as many connections.
    async fn more_users(&self, closed: ClosedLoop) -> anyhow::Result<ClosedLoop> {
        let per_user = self.triage.server.workload.load.connections;
        if lab_system::allow_connections(MORE_USERS * per_user).is_err() {
            return Ok(closed);
        }
        self.triage.progress.step(&format!("{MORE_USERS} users"));
        let length = SHORTEST.max(4 * Duration::from_secs_f64(closed.alone_s));
        let load = self.load(MORE_USERS, warm_up(self.triage.server.visit_takes), length);
        // That so many can't connect is an answer, too.
        let outcome = self.memory.during(generate(&load)).await.transpose().ok().flatten();
        Ok(outcome.map_or(closed, |outcome| closed.with(MORE_USERS, &outcome)))
    }

    /// `None` if the server takes too much memory.
    async fn at_rate(
        &self,
        rate_per_s: f64,
        objective: Objective,
        closed: ClosedLoop,
        spacing: Spacing,
    ) -> anyhow::Result<Option<RateRun>> {
        let step = format!("{objective} at {} a second?", significant(rate_per_s));
        self.triage.progress.step(&step);
        let load = self.open_loop(rate_per_s, objective, closed.users, spacing);
        let Some(outcome) = self.memory.during(generate(&load)).await.transpose()? else {
            return Ok(None);
        };
        let run = RateRun::of(&outcome, rate_per_s, objective, closed);
        if run.shortfall.is_some() {
            let rest = Duration::from_secs_f64(closed.users as f64 / closed.peak_per_s);
            sleep(rest.min(REST)).await;
        }
        Ok(Some(run))
    }

    fn open_loop(
        &self,
        rate_per_s: f64,
        objective: Objective,
        users: usize,
        spacing: Spacing,
    ) -> LoadPlan {
        let server = self.triage.server;
        let Load { connections: per_user, .. } = server.workload.load;
        let load = OpenLoop {
            connections_per_user: per_user,
            spacing,
            ..OpenLoop::new(rate_per_s, users * per_user)
        };
        let allowed = Duration::from_secs_f64(objective.below_ms / 1e3).min(LONG);
        LoadPlan {
            server_pid: Some(self.pid),
            warm_up: WARM_UP.max(warm_up(server.visit_takes)),
            measurement: length(objective, rate_per_s),
            // An answer that comes later is late for sure.
            grace: GRACE.max(2 * server.visit_takes).max(allowed),
            ..LoadPlan::new(self.server.target(), server.requests.clone(), Arrivals::OpenLoop(load))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(text: &str) -> Objective {
        text.parse().unwrap()
    }

    #[test]
    fn a_run_has_ten_answers_beyond_the_percentile_and_shows_a_queue_that_grows() {
        let seconds = |text, rate| length(objective(text), rate).as_secs_f64();
        assert_eq!(seconds("p99 < 40 ms", 5000.0), 2.5);
        assert_eq!(seconds("p99 < 100 ms", 5000.0), 6.0);
        assert_eq!(seconds("p99 < 20 s", 5000.0), 10.0);
        for (text, rate) in [("p50 < 1 ms", 4.0), ("p99 < 5 ms", 100.0), ("p99.9 < 1 s", 400.0)] {
            let objective = objective(text);
            let answers = rate * length(objective, rate).as_secs_f64();
            assert!(answers >= Latency::enough_for(objective.percentile.percent()), "{text}");
        }
    }

    #[test]
    fn a_percentile_that_needs_more_than_half_a_minute_is_not_measured() {
        let is = |text, peak| is_measurable(objective(text), peak);
        assert!(is("p50 < 1 s", 1.0) && is("p90 < 1 s", 4.0) && is("p99 < 1 s", 40.0));
        assert!(!is("p90 < 1 s", 3.0) && !is("p99 < 1 s", 30.0) && !is("p99.9 < 1 s", 300.0));
    }

    fn level(users: usize, per_s: u64, failed: u64) -> Level {
        let measured = Duration::from_secs(1);
        let outcome = Outcome { measured, ok_in_time: per_s, failed, ..Outcome::default() };
        Level { users, outcome, others: None, lost: 0 }
    }

    #[test]
    fn more_connections_help_only_while_throughput_grows_with_the_users() {
        let grows = |last| {
            ClosedLoop::of(&[level(1, 10, 0), level(32, 320, 0), level(64, last, 0)]).unwrap().grows
        };
        assert!(grows(640) && grows(500) && !grows(400));
        let failing = [level(1, 10, 0), level(32, 320, 0), level(64, 640, 9)];
        let closed = ClosedLoop::of(&failing).unwrap();
        assert_eq!((closed.users, closed.grows), (32, false));
        assert_eq!(closed.alone_s, 0.1);
        // More users that get fewer answers, or wrong ones, change nothing.
        let more = |per_s, failed| closed.with(512, &level(512, per_s, failed).outcome);
        assert_eq!((more(500, 0).users, more(9000, 1).users), (32, 32));
        assert!(!more(3000, 0).grows && more(9000, 0).grows && more(9000, 0).users == 512);
    }
}

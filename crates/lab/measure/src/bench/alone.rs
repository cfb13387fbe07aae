//! The CPU time of each request of a visit, on both sides of a comparison: extra runs after the pairs, which change
//! nothing of the verdict.
//!
//! Both servers are started once, and each request is loaded alone on them by turns. What differs from one start to the
//! next, such as the layout of memory, isn't sampled, so the figures have no interval.

use std::time::{Duration, Instant};

use lab_protocol::{Arrivals, LoadPlan, RequestTime};
use lab_report::{CaseRecord, Run};
use lab_servers::{Running, Server};
use lab_stats::median_of;
use tokio::time::timeout;

use super::{Experiment, Runner, Runs, Until, generate, ratios::outcomes_of, run::first_answer};
use crate::routes::{AloneLoad, MOST_ROUTES, Route, routes};

/// The longest that all requests take.
const LONGEST: Duration = Duration::from_secs(10);
/// How often each request is loaded on each side. The order of the sides is another one each time.
const ROUNDS: usize = 2;
/// All requests together have warmed the server up.
const WARM_UP: Duration = Duration::from_millis(100);
const LENGTH: Duration = Duration::from_millis(400);
/// How long a generator takes to start and to end.
const START: Duration = Duration::from_millis(60);

/// The CPU time of a request that was loaded alone.
#[derive(Clone, Debug)]
pub struct CostAlone {
    /// Its place in a visit.
    nth: usize,
    /// Microseconds on the baseline and on the candidate: of each, the median run.
    cpu_us: [Option<f64>; 2],
}

impl CostAlone {
    /// The costs of the `nth` request of a visit.
    pub(super) fn of(all: &[Self], nth: usize) -> [Option<f64>; 2] {
        all.iter().find(|cost| cost.nth == nth).map_or([None; 2], |cost| cost.cpu_us)
    }

    /// Those of an earlier session. Several candidates have none.
    pub(super) fn of_records(records: &[CaseRecord]) -> Vec<Self> {
        let requests = records.iter().flat_map(|record| record.requests.iter().enumerate());
        let costs = requests.map(|(nth, record)| Self { nth, cpu_us: record.cpu_us_per_request });
        costs.filter(|cost| cost.cpu_us != [None; 2]).collect()
    }
}

/// How long the requests of this experiment take about; zero if they can't be loaded alone.
pub fn alone_takes(experiment: &Experiment) -> Duration {
    let Some(routes) = routes_of_both(experiment) else { return Duration::ZERO };
    let [warm_up, each] = lengths(experiment);
    let fit = (LONGEST.saturating_sub(warm_up).as_secs_f64() / each.as_secs_f64()) as usize;
    match routes[0].len().min(fit) {
        0 => Duration::ZERO,
        some => warm_up + each * some as u32,
    }
}

/// The same requests to both servers; `None` if they can't be loaded alone.
fn routes_of_both(experiment: &Experiment) -> Option<[Vec<Route>; 2]> {
    let [baseline, candidate] = &experiment.subjects[..] else { return None };
    let found = [baseline, candidate].map(|side| routes(&side.requests));
    let are_alike = !found[0].is_empty() && found[0].len() == found[1].len();
    let is_plain = experiment.engine.name == "lab" && experiment.workload.background.is_empty();
    (experiment.loads_alone && are_alike && is_plain).then_some(found)
}

/// How each request is loaded.
fn load_of(experiment: &Experiment) -> AloneLoad {
    AloneLoad::new(experiment.workload.load, [WARM_UP, LENGTH], experiment.visit_takes)
}

/// How long the warm-ups of both servers take, and then each request.
fn lengths(experiment: &Experiment) -> [Duration; 2] {
    let each = 2 * ROUNDS as u32 * (START + load_of(experiment).takes());
    [2 * (START + experiment.effort.warm_up), each]
}

impl Runner<'_> {
    /// Loads each request alone, if that can end before the limit of a comparison that began then. Where a side can't
    /// show its CPU time, there is nothing to say.
    pub(super) async fn alone(&self, began: Instant, runs: &mut Runs) {
        let experiment = self.experiment;
        let left = match experiment.effort.until {
            Until::Known { limit, .. } => limit.saturating_sub(began.elapsed()).min(LONGEST),
            Until::Pairs(_) => LONGEST,
        };
        let Some(routes) = routes_of_both(experiment) else { return };
        if !can_follow(&runs.closed) || left < lengths(experiment).iter().sum() {
            return;
        }
        let mut order = by_time(&experiment.subjects[0].name, runs);
        order.truncate(MOST_ROUTES);
        let [baseline, candidate] = [0, 1].map(|side| &experiment.subjects[side].launch);
        let (mut costs, end) = (Vec::new(), Instant::now() + left);
        let loaded = Running::with(baseline, async |one: &Running| {
            Running::with(candidate, async |other: &Running| {
                let servers = [&one.server, &other.server];
                self.in_turns(servers, &routes, &order, end, &mut costs).await
            })
            .await
        });
        // A server that answers later than it did before doesn't make it longer.
        let loaded = timeout(left, loaded).await;
        if !costs.is_empty() {
            runs.alone = costs;
        }
        if let Ok(Err(error)) = loaded {
            self.progress.note(&format!(
                "note: not the CPU time of each request, because a run of one alone failed: {error:#}"
            ));
        }
    }

    /// Both sides take turns with each request, in the order of these places in a visit, as long as there is time for
    /// another one.
    async fn in_turns(
        &self,
        servers: [&Server; 2],
        routes: &[Vec<Route>; 2],
        order: &[usize],
        end: Instant,
        costs: &mut Vec<CostAlone>,
    ) -> anyhow::Result<()> {
        let [Ok(one), Ok(other)] = servers.map(Server::studied_pid) else { return Ok(()) };
        let (pids, load) = ([one, other], load_of(self.experiment));
        for side in [0, 1] {
            self.warm_up(side, servers[side]).await?;
        }
        let [_, takes] = lengths(self.experiment);
        for nth in order.iter().copied() {
            let left = end.saturating_duration_since(Instant::now());
            if left < takes {
                break;
            }
            let step = format!("{} alone", routes[0][nth].name);
            let share = 1.0 - left.as_secs_f64() / LONGEST.as_secs_f64();
            self.progress.until(share, left, self.experiment.name.as_str(), &step);
            let mut found = [const { Vec::new() }; 2];
            for round in 0..ROUNDS {
                for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                    let run = routes[side][nth].load(servers[side], pids[side], load).await?;
                    found[side].push(run.cpu_us());
                }
            }
            let cpu_us = found.map(median_if_all);
            costs.extend(cpu_us.iter().all(Option::is_some).then_some(CostAlone { nth, cpu_us }));
        }
        Ok(())
    }

    /// Loads a server as its runs do before they measure.
    async fn warm_up(&self, side: usize, server: &Server) -> anyhow::Result<()> {
        let Experiment { subjects, workload, effort, .. } = self.experiment;
        let requests = subjects[side].requests.clone();
        let arrivals = Arrivals::ClosedLoop(workload.load);
        let plan = LoadPlan {
            measurement: effort.warm_up,
            grace: effort.grace,
            ..LoadPlan::new(server.target(), requests, arrivals)
        };
        first_answer(&plan, subjects[side].launch.patience()).await;
        generate(&plan).await?;
        Ok(())
    }
}

/// Whether both servers can run at once, each on a port of its own, and gave only right answers.
fn can_follow(runs: &[Run]) -> bool {
    let is_right = |Run { outcome: it, .. }: &Run| it.wrong + it.failed + it.lost == 0;
    let found = runs.iter().filter_map(|run| Some((run.server.as_ref()?, &*run.variant)));
    let ports: Vec<_> = found.map(|(server, side)| (server.address.port(), side)).collect();
    let [is_one_port, is_one_side] = match ports.first() {
        None => [false, true],
        Some((port, side)) => [
            ports.iter().all(|(other, _)| other == port),
            ports.iter().all(|(_, other)| other == side),
        ],
    };
    runs.iter().all(is_right) && (is_one_side || !is_one_port)
}

/// The median of a side whose runs all have a cost.
fn median_if_all(costs: Vec<Option<f64>>) -> Option<f64> {
    median_of(costs.into_iter().collect::<Option<Vec<_>>>()?)
}

/// The places of the requests in a visit, those first that take most of its time on this side.
fn by_time(side: &str, runs: &Runs) -> Vec<usize> {
    let outcomes = outcomes_of(side, &runs.closed);
    let requests = outcomes.first().map_or(0, |outcome| outcome.requests.len());
    let total = |nth: usize| -> f64 {
        let times = outcomes.iter().filter_map(|outcome| outcome.requests.get(nth));
        times.map(RequestTime::total_ms).sum()
    };
    let mut order: Vec<_> = (0..requests).collect();
    order.sort_by(|one, other| total(*other).total_cmp(&total(*one)));
    order
}

#[cfg(test)]
mod tests {
    use lab_protocol::{Listener, Outcome};

    use super::*;

    /// A run of a server on this port, whose answers to two requests took so many ms together.
    fn run(side: &str, port: u16, ms: [f64; 2]) -> Run {
        let time = |(name, ms): (&str, f64)| RequestTime {
            request: name.to_owned(),
            answers: 10,
            mean_ms: Some(ms / 10.0),
            ..RequestTime::default()
        };
        let requests = ["GET /a", "GET /b"].into_iter().zip(ms).map(time).collect();
        let address = ([127, 0, 0, 1], port).into();
        Run {
            variant: side.to_owned(),
            pair: None,
            seed: None,
            load_average: None,
            server: Some(Listener { address, pid: None, command: None, unmeasured: None }),
            neighbours: None,
            outcome: Outcome { requests, ..Outcome::default() },
        }
    }

    #[test]
    fn the_request_that_takes_most_time_is_the_first() {
        let closed =
            vec![run("old", 1, [5.0, 4.0]), run("new", 2, [90.0, 1.0]), run("old", 3, [5.0, 9.0])];
        let runs = Runs { closed, ..Runs::default() };
        assert_eq!(by_time("old", &runs), [1, 0]);
        assert_eq!(by_time("new", &runs), [0, 1]);
        assert!(by_time("old", &Runs::default()).is_empty());
    }

    #[test]
    fn servers_that_need_the_same_port_or_gave_wrong_answers_are_not_started_again() {
        let mut runs = [run("old", 8080, [1.0; 2]), run("new", 8081, [1.0; 2])];
        assert!(can_follow(&runs));
        runs[1].outcome.wrong = 1;
        assert!(!can_follow(&runs));
        let runs = [run("old", 8080, [1.0; 2]), run("new", 8080, [1.0; 2])];
        assert!(!can_follow(&runs));
        let mut runs = runs.to_vec();
        runs.push(run("new", 8081, [1.0; 2]));
        assert!(can_follow(&runs), "another port was free for it, too");
        assert!(can_follow(&runs[..1]) && can_follow(&[]), "nobody knows");
    }

    #[test]
    fn a_run_without_a_cost_leaves_none_of_its_side() {
        assert_eq!(median_if_all(vec![Some(3.0), Some(5.0)]), Some(4.0));
        assert_eq!(median_if_all(vec![Some(3.0), None]), None);
    }
}

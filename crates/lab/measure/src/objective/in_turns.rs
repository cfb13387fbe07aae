//! Two searches for the highest rate, whose runs take turns in random order: drift and neighbours then meet both servers.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use lab_protocol::{Arrivals, Load, Objective, Outcome};
use lab_report::{ObjectiveSearch, RateRun, Run, Shortfall, paragraph, significant};
use lab_servers::Address;
use lab_stats::rounds;
use lab_system::{Progress, allow_connections};
use tokio::time::sleep;

use super::{ClosedLoop, MORE_USERS, RateCourse, ServedLevel, USUAL_RUNS, why_long};
use crate::bench::{Effort, Experiment, Runner};

/// How many users the closed loop has; half of them, and so on, if a server can't serve so many.
const USERS: usize = 64;
/// How long it is measured at each level, and how many visits that is at least.
const LEVEL: Duration = Duration::from_millis(1500);
const VISITS: u32 = 4;
/// A search may go on until it has its most runs: the simulation of the ratio gives both as many.
const ALL: Duration = Duration::MAX;

/// What was found of the baseline and of the candidate.
#[derive(Debug)]
pub struct ObjectiveRuns {
    pub searches: [ObjectiveSearch; 2],
    /// All runs at a rate, in their order.
    pub runs: Vec<Run>,
}

/// How long a comparison takes about, of servers that are fast enough for runs of the usual length.
pub fn comparison_takes(experiment: &Experiment, objective: Objective) -> Duration {
    let effort = effort(experiment);
    let at_rate = Effort { measurement: objective.run_length(f64::INFINITY), ..effort };
    2 * (2 * effort.run() + USUAL_RUNS * at_rate.run())
}

/// Searches for the highest rate at which each of two servers holds the objective. Each run has a fresh server, as in
/// other comparisons.
///
/// # Errors
///
/// If a server or the generator can't be started, or if answers are wrong or missing at a rate that should hold.
pub async fn compare_objective(
    experiment: &Experiment,
    objective: Objective,
) -> anyhow::Result<ObjectiveRuns> {
    let progress = &Progress::planned(comparison_takes(experiment, objective));
    let turns = InTurns { runner: Runner { experiment, progress }, effort: effort(experiment) };
    let seed = experiment.effort.seed;
    let courses = turns.closed_loops().await?;
    let mut courses = courses.map(|closed| RateCourse::within(ALL, objective, closed, seed));
    if let Some(why) = why_long(&courses) {
        progress.note(&paragraph(&why));
    }
    let mut runs: Vec<Run> = Vec::new();
    for slot in rounds(2, seed) {
        let rates = courses.each_ref().map(RateCourse::next_rate);
        if rates == [None; 2] {
            break;
        }
        let Some(rate) = rates[slot.subject] else { continue };
        let (course, subject) = (&mut courses[slot.subject], &experiment.subjects[slot.subject]);
        let nth = runs.iter().filter(|run| run.variant == subject.name).count();
        let (step, effort) = (format!("{objective} at {}?", significant(rate)), turns.effort);
        let plan = course.plan(rate, experiment.visit_takes, turns.per_user());
        let warm_up = effort.warm_up.max(plan.warm_up);
        let (measurement, grace) = (plan.measurement, plan.grace);
        let effort =
            Effort { warm_up, measurement, grace, spacing: plan.arrivals.spacing, ..effort };
        let arrivals = Arrivals::OpenLoop(plan.arrivals);
        let run = turns.run(slot.subject, nth, &step, effort, arrivals).await?;
        let rest = course.add(rate, &run.outcome);
        runs.push(run);
        if matches!(subject.launch.address, Address::Running { .. }) {
            sleep(rest).await;
        }
    }
    let searches = courses.map(RateCourse::end);
    for (search, subject) in searches.iter().zip(&experiment.subjects) {
        ensure_right(search, &subject.name, &runs)?;
    }
    Ok(ObjectiveRuns { searches, runs })
}

/// The lengths of a run of the closed loop.
fn effort(experiment: &Experiment) -> Effort {
    let visit = experiment.visit_takes;
    Effort { measurement: LEVEL.max(VISITS * visit), ..experiment.effort }
}

/// Fails if answers were wrong or missing where the objective should hold. A server may refuse what is beyond its limit.
fn ensure_right(search: &ObjectiveSearch, name: &str, runs: &[Run]) -> anyhow::Result<()> {
    let low = search.found.low.unwrap_or(f64::INFINITY);
    let is_fault = |run: &&RateRun| run.shortfall == Some(Shortfall::Faults);
    let Some(fault) = search.runs.iter().filter(is_fault).find(|run| run.rate_per_s <= low) else {
        return Ok(());
    };
    let mut of_server = runs.iter().filter(|run| run.variant == name);
    let first = of_server.find_map(|run| run.outcome.first_fault.clone());
    bail!(
        "{name}: some answers were wrong or missing at {} a second: {}",
        significant(fault.rate_per_s),
        first.as_deref().unwrap_or("no answer")
    )
}

struct InTurns<'a> {
    runner: Runner<'a>,
    effort: Effort,
}

impl InTurns<'_> {
    fn per_user(&self) -> usize {
        self.runner.experiment.workload.load.connections
    }

    async fn run(
        &self,
        subject: usize,
        nth: usize,
        step: &str,
        effort: Effort,
        arrivals: Arrivals,
    ) -> anyhow::Result<Run> {
        let Experiment { name, subjects, .. } = self.runner.experiment;
        let step = format!("{step}  {}", subjects[subject].name);
        self.runner.progress.run(name.as_str(), &step, effort.run());
        self.runner.run(subject, nth, effort, arrivals).await
    }

    /// What both servers give in a closed loop. If the throughput of one still grows with the users, both get more of
    /// them, so that equal servers have equal chances.
    async fn closed_loops(&self) -> anyhow::Result<[ClosedLoop; 2]> {
        let mut both = [self.closed_loop(0).await?, self.closed_loop(1).await?];
        let can_have_more = allow_connections(MORE_USERS * self.per_user()).is_ok();
        if can_have_more && both.iter().any(|closed| closed.grows) {
            for (subject, closed) in both.iter_mut().enumerate() {
                // That so many can't connect is an answer, too.
                if let Ok(outcome) = self.level(subject, MORE_USERS).await {
                    *closed = closed.with(ServedLevel::of(MORE_USERS, &outcome));
                }
            }
        }
        Ok(both)
    }

    async fn closed_loop(&self, subject: usize) -> anyhow::Result<ClosedLoop> {
        let alone = self.level(subject, 1).await?;
        let name = &self.runner.experiment.subjects[subject].name;
        let mut levels = vec![ServedLevel::of(1, &alone)];
        ensure!(
            levels[0].is_served,
            "{name}: some answers were wrong or missing: {}",
            alone.first_fault.as_deref().unwrap_or("no answer")
        );
        let mut users = USERS;
        while users > 1 {
            let is_allowed = allow_connections(users * self.per_user()).is_ok();
            if is_allowed && let Ok(outcome) = self.level(subject, users).await {
                let level = ServedLevel::of(users, &outcome);
                levels.insert(1, level);
                if level.is_served {
                    break;
                }
            }
            users /= 2;
        }
        ClosedLoop::of(&levels).with_context(|| format!("{name} gives no answers"))
    }

    async fn level(&self, subject: usize, users: usize) -> anyhow::Result<Outcome> {
        let load = Load { users, think_ms: 0, ..self.runner.experiment.workload.load };
        let step = format!("{users} {}", if users == 1 { "user" } else { "users" });
        let arrivals = Arrivals::ClosedLoop(load);
        Ok(self.run(subject, 0, &step, self.effort, arrivals).await?.outcome)
    }
}

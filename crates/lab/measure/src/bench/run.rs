//! The runs of an experiment: each starts a fresh server, puts load on it, and has an outcome. Nothing is judged
//! here.

use std::time::Duration;

use anyhow::Context as _;
use lab_load::{Fault, Visitor};
use lab_protocol::{Arrivals, LoadPlan, OpenLoop, Outcome, Request};
use lab_report::Run;
use lab_servers::{Address, Launch, Running, Subject};
use lab_stats::{Slot, median_of, schedule};
use lab_system::{Progress, err, load_average};
use tokio::time::timeout;

use super::{Effort, Engine, Experiment, neighbours::NeighbourMeter};
use crate::count;

/// The open loop lasts long enough for about this many arrivals, which is enough for a median.
const FEWEST_ARRIVALS: f64 = 36.0;
/// The longest open loop for a very slow server.
const LONGEST_OPEN_LOOP: Duration = Duration::from_secs(30);

/// All that was measured of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The runs in the order in which they were made, as in `open`.
    pub closed: Vec<Run>,
    /// The arrivals of the open loop; `None` without one.
    pub arrivals: Option<OpenLoop>,
    pub open: Vec<Run>,
    /// The counts that were made after the runs.
    pub system_calls: Vec<SystemCalls>,
}

impl Runs {
    /// Whether all runs were made, with or without the counts.
    pub fn is_complete(&self) -> bool {
        !self.closed.is_empty()
    }
}

/// The system calls of a visit to one server.
#[derive(Clone, Debug)]
pub struct SystemCalls {
    /// The name of the server.
    pub subject: String,
    /// The fewest and the most.
    pub per_visit: Result<[f64; 2], Uncounted>,
}

/// Why they were not counted.
#[derive(Clone, Debug)]
pub struct Uncounted {
    pub why: String,
    /// Whether an answer was wrong or lost.
    pub is_fault: bool,
}

/// Makes all runs of an experiment, in the closed loop and then in the open one, and then its counts. `runs` gets the
/// runs when all of them are done, and each count when it is made: what it has stays usable if this ends early.
///
/// # Errors
///
/// If a server or the generator can't be started.
pub async fn run(
    experiment: &Experiment,
    progress: &Progress,
    runs: &mut Runs,
) -> anyhow::Result<()> {
    let runner = Runner { experiment, progress };
    let effort = experiment.effort;
    let closed = runner.closed_loop().await?;
    // Without an answer there is no rate for the arrivals.
    let rate = experiment.workload.arrivals_per_s;
    let capacity = rate.or_else(|| slowest_capacity(&experiment.subjects, &closed));
    let capacity = capacity.filter(|_| !effort.open_loop.is_zero());
    let arrivals = capacity.map(|capacity| experiment.workload.open_loop(capacity, effort.spacing));
    let open = match arrivals {
        None => Vec::new(),
        Some(open) => runner.open_loop(open).await?,
    };
    *runs = Runs { closed, arrivals, open, system_calls: Vec::new() };
    if experiment.counts_system_calls {
        for subject in &experiment.subjects {
            runs.system_calls.push(runner.count(subject).await);
        }
    }
    Ok(())
}

/// The throughput of the slowest server in the closed loop; `None` if it answered nothing.
fn slowest_capacity(subjects: &[Subject], closed: &[Run]) -> Option<f64> {
    let mut capacities = Vec::new();
    for subject in subjects {
        let of_subject = closed.iter().filter(|run| run.variant == subject.name);
        capacities.extend(median_of(of_subject.map(|run| run.outcome.throughput())));
    }
    capacities.into_iter().min_by(f64::total_cmp).filter(|capacity| *capacity > 0.0)
}

/// The parts that the runs of an experiment have in common.
pub(crate) struct Runner<'a> {
    pub experiment: &'a Experiment,
    pub progress: &'a Progress,
}

impl Runner<'_> {
    /// All runs of the closed loop, in the order of [`schedule`].
    async fn closed_loop(&self) -> anyhow::Result<Vec<Run>> {
        let effort = self.experiment.closed_loop();
        let arrivals = Arrivals::ClosedLoop(self.experiment.workload.load);
        if effort.closed_in_pairs(self.experiment.workload.arrivals_per_s.is_some()) {
            return self.runs(&self.pairs(), arrivals, effort).await;
        }
        // As long as the other runs: a short one may be a single stall.
        let effort = Effort { measurement: effort.open_loop, ..effort };
        self.runs(&self.once(), arrivals, effort).await
    }

    /// Runs the open loop once per server, or in all pairs if the verdict is about a latency.
    async fn open_loop(&self, open: OpenLoop) -> anyhow::Result<Vec<Run>> {
        let effort = self.experiment.effort;
        let arrivals = Duration::from_secs_f64(FEWEST_ARRIVALS / open.rate_per_s);
        let longest = LONGEST_OPEN_LOOP.max(effort.open_loop);
        let effort = Effort { measurement: effort.open_loop.max(arrivals.min(longest)), ..effort };
        let slots = if effort.decides_in_open_loop() { self.pairs() } else { self.once() };
        self.runs(&slots, Arrivals::OpenLoop(open), effort).await
    }

    fn pairs(&self) -> Vec<Slot> {
        let Effort { pairs, seed, .. } = self.experiment.effort;
        schedule(self.experiment.subjects.len(), pairs, seed)
    }

    /// The slots for one run of each server.
    fn once(&self) -> Vec<Slot> {
        let subjects = 0..self.experiment.subjects.len();
        subjects.map(|subject| Slot { subject, pair: None, round: 0 }).collect()
    }

    async fn runs(
        &self,
        slots: &[Slot],
        arrivals: Arrivals,
        effort: Effort,
    ) -> anyhow::Result<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        let which = match arrivals {
            Arrivals::ClosedLoop(_) => "closed loop",
            Arrivals::OpenLoop(_) => "open loop",
        };
        let pairs = slots.iter().filter_map(|slot| slot.pair).max().map_or(0, |last| last + 1);
        for &Slot { subject, pair, round } in slots {
            // All runs of a round meet the same arrivals, and the next round meets others: they are sampled, too.
            let spacing = effort.spacing.nth(round);
            let arrivals = match arrivals {
                Arrivals::OpenLoop(open) => Arrivals::OpenLoop(OpenLoop { spacing, ..open }),
                Arrivals::ClosedLoop(load) => Arrivals::ClosedLoop(load),
            };
            let effort = Effort { spacing, ..effort };
            let variant = &self.experiment.subjects[subject].name;
            let nth = pair.map_or(String::new(), |pair| format!("  pair {} of {pairs}", pair + 1));
            let step = format!("{which}{nth}  {variant}");
            self.progress.run(self.experiment.name.as_str(), &step, effort.run());
            let nth = runs.iter().filter(|run| run.variant == *variant).count();
            let run = self.run(subject, nth, effort, arrivals).await?;
            let has_background = !self.experiment.workload.background.is_empty();
            let is_random = has_background || matches!(arrivals, Arrivals::OpenLoop(_));
            runs.push(Run { pair, seed: spacing.seed().filter(|_| is_random), ..run });
        }
        Ok(runs)
    }

    /// The `nth` run of a server.
    pub async fn run(
        &self,
        subject: usize,
        nth: usize,
        effort: Effort,
        arrivals: Arrivals,
    ) -> anyhow::Result<Run> {
        let Experiment { subjects, workload, engine, .. } = self.experiment;
        let subject = &subjects[subject];
        let launch = subject.build(nth);
        let load_average = load_average();
        let run = Running::with(launch, async |Running { server, .. }| {
            server.ensure_it_can_be_timed()?;
            let plan = LoadPlan {
                warm_up: effort.warm_up,
                measurement: effort.measurement,
                grace: effort.grace,
                background: workload.background(effort.spacing),
                options: engine.options,
                ..LoadPlan::new(server.target(), subject.requests.clone(), arrivals)
            };
            let plan = LoadPlan { server_pid: server.studied_pid().ok(), ..plan };
            let meter = NeighbourMeter::begin(server);
            // One that announces itself, or runs already, is ready.
            if !matches!(launch.address, Address::Announced | Address::Running { .. }) {
                first_answer(&plan, launch.patience()).await;
            }
            let note = |note: &str| self.progress.aside(|| err!("{note}"));
            let outcome = engine.run(&plan, &note).await;
            let outcome = outcome.with_context(|| launch.name.clone())?;
            let neighbours = meter.end();
            let variant = subject.name.clone();
            let server = server.listener();
            let (pair, seed) = (None, None);
            anyhow::Ok(Run { variant, pair, seed, load_average, server, neighbours, outcome })
        });
        let mut run = run.await?;
        if effort.allow_unfinished || subject.may_outlast {
            run.outcome.lost = 0;
        }
        Ok(run)
    }

    async fn count(&self, Subject { name, launch, requests, .. }: &Subject) -> SystemCalls {
        self.progress.run("system calls", name, count::LONGEST);
        let counted = count::system_calls(launch, requests).await;
        let may_lack_answers = self.experiment.effort.allow_unfinished;
        let per_visit = counted.map_err(|error| Uncounted {
            why: format!("{error:#}"),
            is_fault: is_fault(&error, may_lack_answers),
        });
        SystemCalls { subject: name.clone(), per_visit }
    }
}

/// A fault is one whenever it comes, unless requests may go without an answer.
fn is_fault(error: &anyhow::Error, may_lack_answers: bool) -> bool {
    match error.downcast_ref() {
        Some(Fault::Mismatch(_)) => true,
        Some(Fault::Failure(_)) => !may_lack_answers,
        None => false,
    }
}

/// Waits until a server has answered once: its socket may accept connections before its workers have
/// started. Errors are ignored here, because the load counts them.
async fn first_answer(plan: &LoadPlan, patience: Duration) {
    let visit = async {
        let target = plan.target.clone();
        let mut visitor = Visitor::open_within(target, &plan.requests, patience).await.ok()?;
        visitor.visit().await.ok()
    };
    let _ = timeout(patience, visit).await;
}

/// Puts load on a server with our own generator.
///
/// # Errors
///
/// If the generator fails; faults of the server are counted in the outcome.
pub async fn generate(plan: &LoadPlan) -> anyhow::Result<Outcome> {
    Engine::lab()?.run(plan, &|_| {}).await
}

/// Makes one visit; returns what went wrong.
///
/// # Errors
///
/// If the server cannot be started or reached, or exits. A fault of an answer is in the inner result.
pub async fn visit_once(
    launch: &Launch,
    requests: &[Request],
) -> anyhow::Result<Result<(), Fault>> {
    Running::with(launch, async |running| {
        let (target, patience) = (running.server.target(), launch.patience());
        anyhow::Ok(Visitor::open_within(target, requests, patience).await?.visit().await)
    })
    .await
}

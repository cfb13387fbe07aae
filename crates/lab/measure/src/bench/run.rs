//! The runs of an experiment: each starts a fresh server, puts load on it, and has an outcome. Nothing is judged
//! here.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use lab_load::{Fault, Visitor};
use lab_protocol::{Arrivals, LoadPlan, OpenLoop, Outcome, Request};
use lab_report::{CaseRecord, Run, plural};
use lab_servers::{Address, Launch, Running, Subject};
use lab_stats::{Slot, median_of, rounds, schedule};
use lab_system::{Progress, err, load_average};
use tokio::time::timeout;

use super::{
    CostAlone, Effort, Engine, Experiment, Looks, Next, Until, assess::look_at,
    neighbours::NeighbourMeter,
};
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
    /// The CPU time of each request of a visit, from extra runs after these.
    pub alone: Vec<CostAlone>,
}

impl Runs {
    /// The runs of an earlier session, which kept a record for each candidate.
    pub fn of_records(experiment: &Experiment, records: &[CaseRecord]) -> Self {
        let of = |loop_of: fn(&CaseRecord) -> &Vec<Run>| {
            let mut runs: Vec<Run> = Vec::new();
            for (nth, record) in records.iter().enumerate() {
                // The extra runs of the baseline are in every record.
                let own = loop_of(record).iter().filter(|run| {
                    nth == 0 || run.pair.is_some() || run.variant == record.candidate
                });
                runs.extend(own.cloned());
            }
            runs.sort_by_key(|run| run.pair);
            runs
        };
        let rate = records.iter().flat_map(|record| &record.variants);
        let rate = rate.filter_map(|variant| Some(variant.open_loop.as_ref()?.rate_per_s)).next();
        let spacing = experiment.effort.spacing;
        let arrivals = rate.map(|rate_per_s| OpenLoop {
            rate_per_s,
            ..experiment.workload.open_loop(rate_per_s, spacing)
        });
        let [closed, open] = [of(|record| &record.runs), of(|record| &record.open_runs)];
        let alone = CostAlone::of_records(records);
        Self { closed, arrivals, open, system_calls: Vec::new(), alone }
    }

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
/// runs when all of them are done, and each count when it is made: what it has stays usable if this ends early. What it
/// has before are the runs of an earlier session, which this one adds pairs to.
///
/// # Errors
///
/// If a server or the generator can't be started.
pub async fn run(
    experiment: &Experiment,
    progress: &Progress,
    runs: &mut Runs,
) -> anyhow::Result<()> {
    let (runner, began) = (Runner { experiment, progress }, Instant::now());
    let effort = experiment.effort;
    let closed = runner.closed_loop(runs).await?;
    // Without an answer there is no rate for the arrivals.
    let rate = experiment.workload.arrivals_per_s;
    let capacity = rate.or_else(|| slowest_capacity(&experiment.subjects, &closed));
    let capacity = capacity.filter(|_| !effort.open_loop.is_zero());
    let open_loop = |capacity| experiment.workload.open_loop(capacity, effort.spacing);
    let arrivals = runs.arrivals.or_else(|| capacity.map(open_loop));
    let measured = Runs { closed, arrivals, ..runs.clone() };
    let open = match arrivals {
        None => Vec::new(),
        Some(open) => runner.open_loop(open, &measured).await?,
    };
    *runs = Runs { open, system_calls: Vec::new(), ..measured };
    if experiment.counts_system_calls {
        for subject in &experiment.subjects {
            runs.system_calls.push(runner.count(subject).await);
        }
    }
    runner.alone(began, runs).await;
    Ok(())
}

fn name_of(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::ClosedLoop(_) => "closed loop",
        Arrivals::OpenLoop(_) => "open loop",
    }
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
    /// All runs of the closed loop, after the earlier ones.
    async fn closed_loop(&self, earlier: &Runs) -> anyhow::Result<Vec<Run>> {
        let effort = self.experiment.closed_loop();
        let arrivals = Arrivals::ClosedLoop(self.experiment.workload.load);
        let decides_later = effort.decides_in_open_loop();
        if effort.closed_in_pairs(self.experiment.workload.arrivals_per_s.is_some()) {
            if decides_later && earlier.is_complete() {
                return Ok(earlier.closed.clone());
            }
            let measured = |closed| Runs { closed, arrivals: None, ..Runs::default() };
            // Where the open loop decides, the first look at this one is the last.
            let fewest = Until::Pairs(effort.until.fewest_pairs(effort.family));
            let until = if decides_later { fewest } else { effort.until };
            return self
                .pairs(arrivals, Effort { until, ..effort }, &earlier.closed, &measured)
                .await;
        }
        // As long as the other runs: a short one may be a single stall.
        let effort = Effort { measurement: effort.open_loop, ..effort };
        self.once(arrivals, effort, &earlier.closed).await
    }

    /// Runs the open loop once per server, or in all pairs if the verdict is about a latency.
    async fn open_loop(&self, open: OpenLoop, measured: &Runs) -> anyhow::Result<Vec<Run>> {
        let effort = self.experiment.effort;
        let arrivals = Duration::from_secs_f64(FEWEST_ARRIVALS / open.rate_per_s);
        let longest = LONGEST_OPEN_LOOP.max(effort.open_loop);
        let effort = Effort { measurement: effort.open_loop.max(arrivals.min(longest)), ..effort };
        let arrivals = Arrivals::OpenLoop(open);
        if effort.decides_in_open_loop() {
            let all = |open| Runs { open, ..measured.clone() };
            self.pairs(arrivals, effort, &measured.open, &all).await
        } else {
            self.once(arrivals, effort, &measured.open).await
        }
    }

    /// One run of each server, unless an earlier session has them.
    async fn once(
        &self,
        arrivals: Arrivals,
        effort: Effort,
        earlier: &[Run],
    ) -> anyhow::Result<Vec<Run>> {
        let mut runs = earlier.to_vec();
        if runs.is_empty() {
            for subject in 0..self.experiment.subjects.len() {
                let step = format!("{}  {}", name_of(arrivals), self.name(subject));
                self.progress.run(self.experiment.name.as_str(), &step, effort.run());
                let slot = Slot { subject, pair: None, round: 0 };
                runs.push(self.slot(slot, arrivals, effort, &runs).await?);
            }
        }
        Ok(runs)
    }

    /// Runs in pairs, after the earlier ones, until they are as many as planned or show enough. `measured` makes of them
    /// all that a record needs.
    async fn pairs(
        &self,
        arrivals: Arrivals,
        effort: Effort,
        earlier: &[Run],
        measured: &dyn Fn(Vec<Run>) -> Runs,
    ) -> anyhow::Result<Vec<Run>> {
        let candidates = self.experiment.subjects.len() - 1;
        let Until::Known { interval, limit } = effort.until else {
            return self.planned_pairs(arrivals, effort).await;
        };
        let mut runs = earlier.to_vec();
        let pairs_before =
            earlier.iter().filter_map(|run| run.pair).max().map_or(0, |last| last + 1);
        let rounds_before = pairs_before / candidates.max(1);
        let mut looks = Looks::new(effort.family, rounds_before, interval, limit);
        let mut shown = String::new();
        let mut slots = rounds(candidates + 1, effort.seed).peekable();
        while let Some(slot) = slots.next() {
            let pairs = rounds_before + slot.round;
            let step = format!("pair {pairs:<3} {:9} {shown}", self.name(slot.subject));
            self.progress.until(looks.share(), looks.left(), self.experiment.name.as_str(), &step);
            let run = self.slot(slot, arrivals, effort, &runs).await?;
            runs.push(Run { pair: slot.pair.map(|pair| pairs_before + pair), ..run });
            if slots.peek().is_some_and(|next| next.round == slot.round) {
                continue;
            }
            // Wrong answers are the result, and more of them are no better one.
            if runs.iter().any(|run| run.outcome.wrong > 0) {
                break;
            }
            match looks.after(pairs) {
                Next::GoOn => {}
                Next::End => break,
                Next::Look(look) => {
                    let found = look_at(self.experiment, &measured(runs.clone()), &looks)?;
                    shown = found.interval;
                    self.progress.looked(&format!("{}: {shown}", plural(look.pairs, "pair")));
                    if found.is_known || looks.is_last(pairs) {
                        break;
                    }
                }
            }
        }
        Ok(runs)
    }

    /// As many pairs as were planned.
    async fn planned_pairs(&self, arrivals: Arrivals, effort: Effort) -> anyhow::Result<Vec<Run>> {
        let Until::Pairs(pairs) = effort.until else { return Ok(Vec::new()) };
        let candidates = self.experiment.subjects.len() - 1;
        let mut runs = Vec::new();
        for slot in schedule(candidates + 1, pairs, effort.seed) {
            let nth = slot.pair.map_or(String::new(), |pair| {
                format!("  pair {} of {}", pair + 1, pairs * candidates)
            });
            let step = format!("{}{nth}  {}", name_of(arrivals), self.name(slot.subject));
            self.progress.run(self.experiment.name.as_str(), &step, effort.run());
            runs.push(self.slot(slot, arrivals, effort, &runs).await?);
        }
        Ok(runs)
    }

    fn name(&self, subject: usize) -> &str {
        &self.experiment.subjects[subject].name
    }

    /// The run of a slot, after these.
    async fn slot(
        &self,
        Slot { subject, pair, round }: Slot,
        arrivals: Arrivals,
        effort: Effort,
        runs: &[Run],
    ) -> anyhow::Result<Run> {
        // All runs of a round meet the same arrivals, and the next round meets others: they are sampled, too.
        let spacing = effort.spacing.nth(round);
        let arrivals = match arrivals {
            Arrivals::OpenLoop(open) => Arrivals::OpenLoop(OpenLoop { spacing, ..open }),
            Arrivals::ClosedLoop(load) => Arrivals::ClosedLoop(load),
        };
        let name = self.name(subject);
        let nth = runs.iter().filter(|run| run.variant == name).count();
        let run = self.run(subject, nth, Effort { spacing, ..effort }, arrivals).await?;
        let has_background = !self.experiment.workload.background.is_empty();
        let is_random = has_background || matches!(arrivals, Arrivals::OpenLoop(_));
        Ok(Run { pair, seed: spacing.seed().filter(|_| is_random), ..run })
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
                seed: effort.spacing.seed().unwrap_or_default(),
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
pub(super) async fn first_answer(plan: &LoadPlan, patience: Duration) {
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

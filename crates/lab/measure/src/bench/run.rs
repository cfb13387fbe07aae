//! Runs: each starts a fresh server, puts load on it, and returns an outcome.

use std::time::Duration;

use anyhow::Context as _;
use lab_cases::{Case, Promise, Reference, Request, Workspace};
use lab_load::{Fault, Visitor};
use lab_model::{Arrivals, Ask, Background, Load, LoadPlan, Note, OpenLoop, Outcome, Spacing};
use lab_report::{Run, noted, plural};
use lab_servers::{Address, Launch, Running, Subject};
use lab_stats::{Slot, median_of, schedule};
use lab_system::{Progress, err, load_average};
use tokio::time::timeout;

use super::{Effort, Engine, neighbours::Before};

/// Servers to compare, and their load.
#[derive(Debug)]
pub struct Comparison {
    /// The name in progress and messages.
    pub name: String,
    /// What the tables call a visit.
    pub visit: String,
    pub load: Load,
    pub engine: Engine,
    /// How long a visit takes that meets no other, to the slowest server; zero if nobody knows.
    pub visit_takes: Duration,
    /// The servers; the first is the baseline.
    pub subjects: Vec<Subject>,
    /// Requests of other clients next to the load, each with its rate per second.
    pub background: Vec<(f64, Ask)>,
    /// The rate of the open loop, if it is fixed.
    pub arrivals_per_s: Option<f64>,
    /// What was found before the runs and limits what they show.
    notes: Vec<Note>,
    /// What the case file promises, of the load that it names.
    pub promise: Option<Promise>,
    /// What its steps have in common.
    pub(super) steps_note: Option<String>,
    /// The exact counts of each server's visit, as the case's file has them.
    pub(super) exact: Reference,
}

/// The rate of the open loop, as a share of the slowest server's capacity.
const SHARE_OF_CAPACITY: f64 = 0.5;
/// The minimum and maximum number of users in the open loop: enough that arrivals do not wait for a
/// server that keeps up, and few enough that no server is overrun.
const OPEN_LOOP_USERS: (usize, usize) = (8, 64);
/// The open loop lasts long enough for about this many arrivals, which is enough for a median.
const FEWEST_ARRIVALS: f64 = 36.0;
/// But no longer than this, for a very slow server.
const LONGEST_OPEN_LOOP: Duration = Duration::from_secs(30);

impl Comparison {
    /// # Errors
    ///
    /// If this program can't be started as the generator.
    pub fn new(name: &str, load: Load, subjects: Vec<Subject>) -> anyhow::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            visit: "request".to_owned(),
            load,
            engine: Engine::lab()?,
            visit_takes: Duration::ZERO,
            subjects,
            background: Vec::new(),
            arrivals_per_s: None,
            notes: Vec::new(),
            promise: None,
            steps_note: None,
            exact: Reference::default(),
        })
    }

    /// The variants of a case, under its own load.
    pub fn of_case(
        workspace: &Workspace,
        case: &Case,
        variants: &[String],
    ) -> anyhow::Result<Self> {
        let connections = case.load.users * case.load.connections;
        lab_system::allow_connections(connections + OPEN_LOOP_USERS.1 * case.requests.len())?;
        let (mut own, mut background) = (Vec::new(), Vec::new());
        for Request { ask, rate_per_s } in case.requests.iter().cloned() {
            match rate_per_s {
                None => own.push(ask),
                Some(rate) => background.push((rate, ask)),
            }
        }
        let subject = |variant: &String| {
            let launch = Launch::of_case(workspace, case, variant)?;
            let may_outlast = case.allow_unfinished.contains(variant);
            Ok(Subject { may_outlast, ..Subject::new(variant, launch, own.clone()) })
        };
        let subjects = variants.iter().map(subject).collect::<anyhow::Result<_>>()?;
        let comparison = Self::new(&case.shown, case.load, subjects)?;
        Ok(Self {
            visit: case.visit.clone(),
            background,
            arrivals_per_s: case.arrivals_per_s,
            promise: case.promise,
            steps_note: case.steps_note.clone(),
            exact: workspace.counts(case).unwrap_or_default(),
            ..comparison
        })
    }

    /// Prints a note, and keeps it for the record.
    pub fn note(&mut self, note: Note) {
        err!("{}", noted(&note));
        self.keep(note);
    }

    /// Keeps a note for the record, which is printed later.
    pub fn keep(&mut self, note: Note) {
        self.notes.push(note);
    }

    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The requests of a visit to the baseline. Those of the others may have other paths.
    pub fn asks(&self) -> &[Ask] {
        self.subjects.first().map_or(&[], |baseline| &baseline.asks)
    }

    /// The load in words, such as `3,000 users, 0.5 s between requests`.
    pub fn describe_load(&self) -> String {
        let users = plural(self.load.users, "user");
        let connections = match self.load.connections {
            1 => String::new(),
            connections => format!(" with {}", plural(connections, "connection")),
        };
        let pause = match self.load.think_ms {
            0 => "without a pause".to_owned(),
            pause => format!("{} s between requests", pause as f64 / 1e3),
        };
        let visit = match self.asks().len() {
            1 => String::new(),
            requests => format!(", {} per visit", plural(requests, "request")),
        };
        let next_to = |(rate, ask): &(f64, Ask)| {
            format!(", next to {rate} {} {} per second", ask.method, ask.path)
        };
        let others: String = self.background.iter().map(next_to).collect();
        let closed = format!("{users}{connections}, {pause}{visit}");
        match self.arrivals_per_s {
            None => format!("{closed}{others}"),
            Some(rate) => format!("{rate} arrivals per second (closed loop: {closed}){others}"),
        }
    }

    /// The requests of other clients: not at the moments of the open loop, which has this spacing.
    pub(crate) fn background(&self, spacing: Spacing) -> Vec<Background> {
        let of = |(nth, (rate_per_s, ask)): (usize, &(f64, Ask))| {
            let connections = OPEN_LOOP_USERS.1;
            let spacing = spacing.nth(nth);
            let arrivals = OpenLoop { spacing, ..OpenLoop::new(*rate_per_s, connections) };
            Background { arrivals, ask: ask.clone() }
        };
        self.background.iter().enumerate().map(of).collect()
    }

    /// Whether the closed loop runs in pairs. One run of each server is enough if nothing depends on it.
    fn closed_in_pairs(&self, effort: Effort) -> bool {
        effort.closed_in_pairs(self.arrivals_per_s.is_some())
    }

    /// This effort for the closed loop.
    pub(super) fn closed_loop(&self, effort: Effort) -> Effort {
        effort.closed_loop(self.load)
    }

    /// The expected length of all runs.
    pub fn length(&self, effort: Effort) -> Duration {
        effort.length(self.subjects.len(), self.load, self.arrivals_per_s.is_some())
    }

    /// Makes all runs of the closed loop, in the order of [`schedule`].
    pub(super) async fn measure(
        &self,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        let arrivals = Arrivals::ClosedLoop(self.load);
        let effort = self.closed_loop(effort);
        if self.closed_in_pairs(effort) {
            return self.runs(&self.pairs(effort), arrivals, effort, progress).await;
        }
        // As long as the other runs: a short one may be a single stall.
        let effort = Effort { measurement: effort.open_loop, ..effort };
        self.runs(&self.once(), arrivals, effort, progress).await
    }

    fn pairs(&self, effort: Effort) -> Vec<Slot> {
        schedule(self.subjects.len(), effort.pairs, effort.seed)
    }

    /// One run of each server.
    fn once(&self) -> Vec<Slot> {
        (0..self.subjects.len()).map(|subject| Slot { subject, pair: None, round: 0 }).collect()
    }

    async fn runs(
        &self,
        slots: &[Slot],
        arrivals: Arrivals,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        let mut runs = Vec::new();
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
            let variant = &self.subjects[subject].name;
            let nth = pair.map_or(String::new(), |pair| format!("  pair {} of {pairs}", pair + 1));
            progress.run(&self.name, &format!("{which}{nth}  {variant}"), effort.run());
            let nth = runs.iter().filter(|run: &&Run| run.variant == *variant).count();
            let run = self.run(subject, nth, effort, arrivals, progress).await?;
            let is_random =
                !self.background.is_empty() || matches!(arrivals, Arrivals::OpenLoop(_));
            runs.push(Run { pair, seed: spacing.seed().filter(|_| is_random), ..run });
        }
        Ok(runs)
    }

    /// The throughput of the slowest server in the closed loop; `None` if it answered nothing.
    pub(super) fn slowest_capacity(&self, closed: &[Run]) -> Option<f64> {
        let capacity = |variant: &str| {
            let of_variant = closed.iter().filter(|run| run.variant == variant);
            median_of(of_variant.map(|run| run.outcome.throughput()))
        };
        let capacities = self.subjects.iter().filter_map(|subject| capacity(&subject.name));
        capacities.min_by(f64::total_cmp).filter(|capacity| *capacity > 0.0)
    }

    /// The load under which servers are watched.
    pub(crate) fn arrivals(&self) -> Arrivals {
        match self.arrivals_per_s {
            Some(rate) => Arrivals::OpenLoop(self.open_loop(rate, Spacing::default())),
            None => Arrivals::ClosedLoop(self.load),
        }
    }

    /// Arrivals at half of this capacity, so that every server keeps up and their latencies are
    /// comparable; or at the rate that is given.
    pub(super) fn open_loop(&self, capacity: f64, spacing: Spacing) -> OpenLoop {
        let users = self.load.users.clamp(OPEN_LOOP_USERS.0, OPEN_LOOP_USERS.1);
        let rate_per_s = self.arrivals_per_s.unwrap_or(capacity * SHARE_OF_CAPACITY);
        let connections_per_user = self.load.connections;
        let load = OpenLoop::new(rate_per_s, users * connections_per_user);
        OpenLoop { connections_per_user, spacing, ..load }
    }

    /// Makes one run of the open loop per server; all the pairs, if the verdict is about a latency.
    pub(super) async fn measure_open_loop(
        &self,
        open: OpenLoop,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        let arrivals = Duration::from_secs_f64(FEWEST_ARRIVALS / open.rate_per_s);
        let longest = LONGEST_OPEN_LOOP.max(effort.open_loop);
        let effort = Effort { measurement: effort.open_loop.max(arrivals.min(longest)), ..effort };
        let slots = if effort.decides_in_open_loop() { self.pairs(effort) } else { self.once() };
        self.runs(&slots, Arrivals::OpenLoop(open), effort, progress).await
    }

    /// Makes the `nth` run of a server.
    pub(super) async fn run(
        &self,
        subject: usize,
        nth: usize,
        effort: Effort,
        arrivals: Arrivals,
        progress: &Progress,
    ) -> anyhow::Result<Run> {
        let subject = &self.subjects[subject];
        let launch = subject.build(nth);
        let load_average = load_average();
        let run = Running::with(launch, async |Running { server, .. }| {
            server.ensure_it_can_be_timed()?;
            let plan = LoadPlan {
                warm_up: effort.warm_up,
                measurement: effort.measurement,
                grace: effort.grace,
                background: self.background(effort.spacing),
                options: self.engine.options,
                ..LoadPlan::new(server.target(), subject.asks.clone(), arrivals)
            };
            let plan = LoadPlan { server_pid: server.studied_pid().ok(), ..plan };
            let before = Before::look(server);
            // One that announces itself, or runs already, is ready.
            if !matches!(launch.address, Address::Announced | Address::Running { .. }) {
                first_answer(&plan, launch.patience()).await;
            }
            let note = |note: &str| progress.aside(|| err!("{note}"));
            let outcome = self.engine.run(&plan, &note).await;
            let outcome = outcome.with_context(|| launch.name.clone())?;
            let neighbours = before.until_now();
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
}

/// Waits until a server has answered once: its socket may accept connections before its workers have
/// started. Errors are ignored here, because the load counts them.
async fn first_answer(plan: &LoadPlan, patience: Duration) {
    let visit = async {
        let target = plan.target.clone();
        let mut visitor = Visitor::open_within(target, &plan.asks, patience).await.ok()?;
        visitor.visit().await.ok()
    };
    let _ = timeout(patience, visit).await;
}

/// Puts load on a server with our own generator.
pub async fn generate(plan: &LoadPlan) -> anyhow::Result<Outcome> {
    Engine::lab()?.run(plan, &|_| {}).await
}

/// Makes one visit; returns what went wrong.
pub async fn visit_once(launch: &Launch, asks: &[Ask]) -> anyhow::Result<Result<(), Fault>> {
    Running::with(launch, async |running| {
        let (target, patience) = (running.server.target(), launch.patience());
        anyhow::Ok(Visitor::open_within(target, asks, patience).await?.visit().await)
    })
    .await
}

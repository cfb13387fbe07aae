//! Runs: each starts a fresh server, puts load on it, and returns an outcome.

use std::time::Duration;

use anyhow::Context as _;
use lab_display::plural;
use lab_load::{Fault, Visitor};
use lab_model::{
    Arrivals, Ask, Case, Expected, Load, LoadPlan, OpenLoop, Outcome, Request, Run, Workspace,
    load_average,
};
use lab_servers::{Address, Launch, Scratch, Stage};
use lab_stats::{Slot, median_of, schedule};
use tokio::time::timeout;

use super::{Effort, Engine, neighbours::Before};
use crate::Progress;

/// Servers to compare, and their load.
#[derive(Debug)]
pub struct Comparison {
    /// The name in progress and messages.
    pub name: String,
    pub load: Load,
    pub engine: Engine,
    pub asks: Vec<Ask>,
    /// For each server, requests of its own that get the same answers; empty if all servers get `asks`.
    pub own_asks: Vec<Vec<Ask>>,
    /// The servers by name; the first is the baseline.
    pub subjects: Vec<(String, Launch)>,
    /// For each server, builds that differ in the layout of their code, used by its runs in turn; empty
    /// without `--layouts`.
    pub layouts: Vec<Vec<Launch>>,
    /// The servers whose requests may outlast a run.
    pub allow_unfinished: Vec<String>,
    /// What was found before the runs and limits what they show, a sentence each.
    pub caveats: Vec<String>,
    /// The directory of the requests' bodies, if they have any.
    pub _files: Option<Scratch>,
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
/// How long a server that was just started may take to answer.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

impl Comparison {
    /// The variants of a case, under its own load.
    pub fn of_case(
        workspace: &Workspace,
        case: &Case,
        variants: &[String],
    ) -> anyhow::Result<Self> {
        let mut subjects = Vec::new();
        for variant in variants {
            subjects.push((variant.clone(), Launch::of_case(workspace, case, variant)?));
        }
        lab_system::allow_connections(case.load.users * case.load.connections)?;
        Ok(Self {
            name: case.shown.clone(),
            load: case.load,
            engine: Engine::lab()?,
            asks: asks(case),
            own_asks: Vec::new(),
            subjects,
            layouts: Vec::new(),
            allow_unfinished: case.allow_unfinished.clone(),
            caveats: Vec::new(),
            _files: None,
        })
    }

    /// The requests of a server.
    pub fn asks_of(&self, subject: usize) -> &[Ask] {
        self.own_asks.get(subject).unwrap_or(&self.asks)
    }

    /// The load in words, such as `3,000 users, 0.5 s between requests`.
    pub fn load_in_words(&self) -> String {
        let users = plural(self.load.users, "user");
        let connections = match self.load.connections {
            1 => String::new(),
            connections => format!(" with {}", plural(connections, "connection")),
        };
        let pause = match self.load.think_ms {
            0 => "without a pause".to_owned(),
            pause => format!("{} s between requests", pause as f64 / 1e3),
        };
        let visit = match self.asks.len() {
            1 => String::new(),
            requests => format!(", {} per visit", plural(requests, "request")),
        };
        format!("{users}{connections}, {pause}{visit}")
    }

    /// Makes all runs of the closed loop, in the order of [`schedule`].
    pub(super) async fn measure(
        &self,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        self.in_pairs(Arrivals::ClosedLoop(self.load), effort, progress).await
    }

    async fn in_pairs(
        &self,
        arrivals: Arrivals,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        let mut runs = Vec::new();
        let slots = schedule(self.subjects.len(), effort.pairs, effort.seed);
        let pairs = effort.pairs * (self.subjects.len() - 1);
        for Slot { subject, pair } in slots {
            let (variant, _) = &self.subjects[subject];
            let which = match pair {
                Some(pair) => format!("pair {} of {pairs}  {variant}", pair + 1),
                None => format!("control  {variant}"),
            };
            let which = match arrivals {
                Arrivals::ClosedLoop(_) => which,
                Arrivals::OpenLoop(_) => format!("open loop  {which}"),
            };
            progress.run(&self.name, &which, effort.run());
            let nth = runs.iter().filter(|run: &&Run| run.variant == *variant).count();
            let run = self.run(subject, nth, effort, arrivals, progress).await?;
            runs.push(Run { pair, ..run });
        }
        Ok(runs)
    }

    /// The throughput of the slowest server in the closed loop; `None` if it answered nothing.
    pub(super) fn slowest_capacity(&self, closed: &[Run]) -> Option<f64> {
        let capacity = |variant: &str| {
            let of_variant = closed.iter().filter(|run| run.variant == variant);
            median_of(of_variant.map(|run| run.outcome.throughput()))
        };
        let capacities = self.subjects.iter().filter_map(|(variant, _)| capacity(variant));
        capacities.min_by(f64::total_cmp).filter(|capacity| *capacity > 0.0)
    }

    /// Arrivals at half of this capacity, so that every server keeps up and their latencies are
    /// comparable.
    pub(super) fn open_loop(&self, capacity: f64, effort: Effort) -> OpenLoop {
        let users = self.load.users.clamp(OPEN_LOOP_USERS.0, OPEN_LOOP_USERS.1);
        OpenLoop {
            rate_per_s: capacity * SHARE_OF_CAPACITY,
            connections: users * self.load.connections,
            connections_per_user: self.load.connections,
            spacing: effort.spacing,
        }
    }

    /// Makes one run of the open loop per server; all the pairs, if the verdict is about a latency.
    pub(super) async fn measure_open_loop(
        &self,
        open: OpenLoop,
        effort: Effort,
        progress: &Progress,
    ) -> anyhow::Result<Vec<Run>> {
        let arrivals = Duration::from_secs_f64(FEWEST_ARRIVALS / open.rate_per_s);
        let planned = effort.run();
        let effort =
            Effort { measurement: effort.open_loop.max(arrivals.min(LONGEST_OPEN_LOOP)), ..effort };
        if effort.decides_in_open_loop() {
            return self.in_pairs(Arrivals::OpenLoop(open), effort, progress).await;
        }
        let mut runs = Vec::new();
        for (subject, (variant, _)) in self.subjects.iter().enumerate() {
            progress.run(&self.name, &format!("open loop  {variant}"), planned);
            runs.push(self.run(subject, 0, effort, Arrivals::OpenLoop(open), progress).await?);
        }
        Ok(runs)
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
        let (variant, usual) = &self.subjects[subject];
        let layouts = self.layouts.get(subject);
        let launch = layouts.and_then(|them| them.iter().cycle().nth(nth)).unwrap_or(usual);
        let load_average = load_average();
        let mut stage = Stage::set(launch).await?;
        stage.server.ensure_it_can_be_timed()?;
        let plan = LoadPlan {
            target: stage.server.target(),
            server_pid: stage.server.studied_pid().ok(),
            arrivals,
            warm_up: effort.warm_up,
            measurement: effort.measurement,
            grace: effort.grace,
            asks: self.asks_of(subject).to_vec(),
            options: self.engine.options,
        };
        let (server, before) = (stage.server.listener(), Before::look(&stage.server));
        let mut outcome = stage
            .watch(async {
                // One that announces itself, or runs already, is ready.
                if !matches!(launch.address, Address::Announced | Address::Running { .. }) {
                    first_answer(&plan).await;
                }
                let note = |note: &str| progress.aside(|| eprintln!("{note}"));
                self.engine.run(&plan, &note).await.with_context(|| launch.name.clone())
            })
            .await?;
        let neighbours = before.until_now();
        if effort.allow_unfinished || self.allow_unfinished.contains(variant) {
            outcome.lost = 0;
        }
        stage.clear().await?;
        let variant = variant.clone();
        Ok(Run { variant, pair: None, load_average, server, neighbours, outcome })
    }
}

/// Waits until a server has answered once: its socket may accept connections before its workers have
/// started. Errors are ignored here, because the load counts them.
async fn first_answer(plan: &LoadPlan) {
    let visit = async {
        let mut visitor = Visitor::open(plan.target.clone(), &plan.asks).await.ok()?;
        visitor.visit().await.ok()
    };
    let _ = timeout(FIRST_ANSWER, visit).await;
}

/// Puts load on a server with our own generator.
pub async fn generate(plan: &LoadPlan) -> anyhow::Result<Outcome> {
    Engine::lab()?.run(plan, &|_| {}).await
}

/// Makes one visit; returns what went wrong.
pub async fn visit_once(launch: &Launch, asks: &[Ask]) -> anyhow::Result<Result<(), Fault>> {
    let stage = Stage::set(launch).await?;
    let result = Visitor::open(stage.server.target(), asks).await?.visit().await;
    stage.clear().await?;
    Ok(result)
}

/// A case's requests for the generator.
pub fn asks(case: &Case) -> Vec<Ask> {
    let ask = |request: Request| {
        let Request { method, path, status, answer } = request;
        let expected = Expected { status, answer };
        Ask { method, path, headers: Vec::new(), body: None, expected }
    };
    case.requests.iter().cloned().map(ask).collect()
}

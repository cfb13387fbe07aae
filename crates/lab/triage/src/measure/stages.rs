//! The stages of a triage, in their order. Each returns what it found.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use lab_measure::{
    bench::{NeighbourMeter, generate},
    count::{Counter, SYSTEM_CALLS},
    watch::{Instruments, RandomArrivals, Watch, first_that_works},
};
use lab_observation::{Observation, Profiler, ThreadStates};
use lab_profile::{Profilers, open_files, watch_files, watch_threads};
use lab_protocol::{Arrivals, EngineOptions, Load, LoadPlan, Note, Outcome, Request};
use lab_report::{ObjectiveSearch, plural};
use lab_servers::Server;
use lab_system::process;

use super::{
    CountsPerVisit, Files, Level, LoadedRoute, MemoryHistory, Outbound, Triage, WATCHED,
    allowed::allowed_cores,
    cores,
    delays::may_be_delayed,
    level::{LEVELS, WATCH},
    memory::MemoryLog,
};
use crate::thresholds::ENOUGH_SAMPLES;

pub const WARM_UP: Duration = Duration::from_millis(400);
const PROFILE: Duration = Duration::from_secs(4);
pub const GRACE: Duration = Duration::from_millis(500);
/// How long the threads of the unloaded server are watched.
const IDLE: Duration = Duration::from_millis(500);
/// How long events are counted.
const COUNTING: Duration = Duration::from_millis(1500);
/// The number of visits of each user that is enough for a profile and for counts.
const ENOUGH: u32 = 3;
/// The extra time of the tools, which start, and read what they recorded.
const OTHER: Duration = Duration::from_secs(8);
/// How often each of the two clients gets its turn.
const TURNS: usize = 2;
/// How often the connections to other servers are looked at.
const LOOKS: u32 = 10;
/// A server that uses this share of a core has enough samples, unless the profiler got too little time.
const WORKS: f64 = 0.2;
/// The events of `perf stat` that are counted for each request. Each of them must exist on every
/// architecture, for otherwise `perf` counts nothing.
#[rustfmt::skip]
const EVENTS: &[&str] = &[
    SYSTEM_CALLS,
    "syscalls:sys_enter_connect",
    "syscalls:sys_enter_openat",
    // By musl.
    #[cfg(target_arch = "x86_64")]
    "syscalls:sys_enter_open",
    "syscalls:sys_enter_write",
    "syscalls:sys_enter_fsync",
    "syscalls:sys_enter_fdatasync",
    "syscalls:sys_enter_clone",
    "syscalls:sys_enter_clone3",
    "syscalls:sys_enter_futex",
    "page-faults",
    // Only to name the kind that is made most often.
    "syscalls:sys_enter_statx", "syscalls:sys_enter_newfstatat", "syscalls:sys_enter_newfstat",
    "syscalls:sys_enter_faccessat", "syscalls:sys_enter_readlinkat", "syscalls:sys_enter_getdents64",
    "syscalls:sys_enter_close", "syscalls:sys_enter_lseek", "syscalls:sys_enter_fcntl",
    "syscalls:sys_enter_read", "syscalls:sys_enter_pread64", "syscalls:sys_enter_mmap",
    "syscalls:sys_enter_munmap", "syscalls:sys_enter_madvise", "syscalls:sys_enter_getrandom",
];

/// The server under load.
pub struct Loaded<'a> {
    pub triage: &'a Triage<'a>,
    pub server: &'a Server,
    pub pid: u32,
    pub memory: MemoryLog,
}

/// The results of the stages, in their order.
pub struct Stages {
    pub idle: Option<ThreadStates>,
    pub climb: Climb,
    pub quick_ack: Vec<[Outcome; 2]>,
    pub arrivals: Option<RandomArrivals>,
    pub profile: Profile,
    pub counter: anyhow::Result<Counting>,
    /// Up to here: the load of what follows is another one.
    pub history: MemoryHistory,
    pub routes: Vec<LoadedRoute>,
    pub objective: Option<ObjectiveSearch>,
}

/// All levels, and what was seen meanwhile.
#[derive(Default)]
pub struct Climb {
    pub levels: Vec<Level>,
    pub busy: Option<ThreadStates>,
    pub outbound: Outbound,
    pub refused_connections: Option<u64>,
    pub allowed_cores: Option<usize>,
}

pub struct Profile {
    pub profiler: Profiler,
    pub observation: Observation,
    pub notes: Vec<Note>,
}

impl Profile {
    /// On a busy machine, a profiler may get nothing of a server that works: it starts after the load has ended.
    fn lacks_samples(&self, levels: &[Level]) -> bool {
        let mut watched = levels.iter().filter(|level| level.users == WATCHED);
        let works = watched.any(|level| cores(&level.outcome).is_some_and(|cores| cores >= WORKS));
        let recording = self.observation.recording.as_ref();
        works && recording.is_some_and(|recording| recording.samples < ENOUGH_SAMPLES)
    }
}

/// Events from the first request to the last, so that the totals can be divided by the requests. The totals are
/// known once the counter has ended.
pub struct Counting {
    counter: Counter,
    visits: u64,
    files: Files,
}

impl Counting {
    pub async fn per_visit(self, exits: bool) -> anyhow::Result<(CountsPerVisit, Files)> {
        let totals = self.counter.totals(exits).await?;
        let visits = self.visits.max(1) as f64;
        let per_visit = totals.into_iter().map(|total| total as f64 / visits);
        Ok((EVENTS.iter().copied().zip(per_visit).collect(), self.files))
    }
}

/// How many connections to other servers hold back a small write, on average of some looks in this window.
async fn held_back(pid: u32, window: Duration) -> Option<f64> {
    let look = process::held_back(pid)?;
    let mut held = 0;
    for _ in 0..LOOKS {
        tokio::time::sleep(window / (LOOKS + 1)).await;
        held += look()?;
    }
    Some(held as f64 / f64::from(LOOKS))
}

impl Loaded<'_> {
    pub async fn stages(&self) -> anyhow::Result<Stages> {
        let progress = self.triage.progress;
        progress.step("watching it without load");
        let idle = watch_threads(self.pid, IDLE).await;
        let climb = self.climb().await?;
        // Each stage but the first may have to end before the server takes too much memory.
        let memory = &self.memory;
        let quick_ack = memory.during(self.quick_ack(&climb.levels)).await;
        let quick_ack = quick_ack.transpose()?.unwrap_or_default();
        let arrivals = memory.during(self.arrivals(&climb.levels)).await.transpose()?.flatten();
        let mut profile = self.profile().await?;
        if profile.lacks_samples(&climb.levels) {
            profile = self.profile().await?;
        }
        self.memory_to_its_end().await?;
        progress.step("counting");
        let counter = memory.during(self.count()).await.unwrap_or_else(|| Err(memory.too_much()));
        let history = memory.history();
        let asks = climb.outbound.connections.is_some_and(|connections| connections > 0);
        let routes = self.routes(profile.profiler, idle.as_ref(), asks).await?;
        let objective = self.objective(&climb.levels).await?;
        Ok(Stages {
            idle,
            climb,
            quick_ack,
            arrivals,
            profile,
            counter,
            history,
            routes,
            objective,
        })
    }

    /// Measures one level after the other, up to the most users that get enough answers.
    async fn climb(&self) -> anyhow::Result<Climb> {
        let refused_before = process::refused_connections(self.pid);
        let mut climb = Climb::default();
        for users in LEVELS {
            let visit = self.triage.server.visit_takes;
            let Some(length) = Level::length(users, &climb.levels, visit) else { break };
            self.triage.progress.step(&format!("{users} of {} users", LEVELS[LEVELS.len() - 1]));
            let load = self.load(users, warm_up(visit), length);
            let answered = climb.levels.last().map(|level| level.users);
            let limited = || too_many(users, answered);
            let meter = NeighbourMeter::begin(self.server);
            let loaded = async {
                if users == WATCHED {
                    let watch = self.watch(length);
                    let (outcome, seen) = tokio::try_join!(generate(&load), watch)?;
                    (climb.busy, climb.outbound) = seen;
                    Ok(outcome)
                } else {
                    generate(&load).await
                }
            };
            let Some(outcome) = self.memory.during(loaded).await else { break };
            let outcome = outcome.with_context(limited)?;
            self.memory.learn_of(&outcome);
            let first_fault = outcome.first_fault.clone().unwrap_or("none came".to_owned());
            // Lost requests are a finding.
            let is_answered = users > 1 || outcome.ok_in_time + outcome.lost > 0;
            ensure!(is_answered, "no right answer: {first_fault}");
            let others = meter.end();
            climb.levels.push(Level::new(users, outcome, others, &climb.levels));
        }
        if climb.levels.is_empty() {
            return Err(self.memory.too_much());
        }
        climb.allowed_cores = allowed_cores(self.pid);
        let refused = process::refused_connections(self.pid);
        climb.refused_connections = refused.and_then(|now| now.checked_sub(refused_before?));
        Ok(climb)
    }

    /// The threads, and the connections to other servers, while a load of this length runs.
    async fn watch(&self, length: Duration) -> anyhow::Result<(Option<ThreadStates>, Outbound)> {
        // Not its beginning, and not its end.
        let visit = self.triage.server.visit_takes;
        tokio::time::sleep(warm_up(visit) + visit).await;
        let (before, start) = (process::round_trips(self.pid), Instant::now());
        let window = length - GRACE;
        let (states, held_back) =
            tokio::join!(watch_threads(self.pid, window), held_back(self.pid, window));
        let asked = process::round_trips(self.pid).and_then(|now| now.checked_sub(before?));
        let per_s = asked.map(|requests| requests as f64 / start.elapsed().as_secs_f64());
        let connections = process::outbound_connections(self.pid);
        Ok((states, Outbound { connections, round_trips_per_s: per_s, held_back }))
    }

    /// Whether answers are delayed because the client acknowledges late. Other programs come and go, so the two
    /// clients take turns.
    async fn quick_ack(&self, levels: &[Level]) -> anyhow::Result<Vec<[Outcome; 2]>> {
        let watched = levels.iter().find(|level| level.users == WATCHED);
        let is_delayed = watched.is_some_and(|level| may_be_delayed(&level.outcome));
        // In HTTP/2, the sockets are out of reach.
        if !is_delayed || self.server.target().http2.is_some() {
            return Ok(Vec::new());
        }
        self.triage.progress.step("a client that acknowledges at once");
        let usual = self.load(WATCHED, WARM_UP, WATCH);
        let options = EngineOptions { quick_ack: true, ..usual.options };
        let quick = LoadPlan { options, ..usual.clone() };
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            let turn = [generate(&quick).await?, generate(&usual).await?];
            self.memory.learn_of(&turn[1]);
            turns.push(turn);
        }
        Ok(turns)
    }

    /// Where CPU time goes, or nothing if the server takes too much memory.
    async fn profile(&self) -> anyhow::Result<Profile> {
        if let Some(recorded) = self.memory.during(self.record()).await {
            return recorded;
        }
        let none = Profilers::all().last().context("the last profiler needs nothing")?;
        let observation = Observation {
            name: "server".to_owned(),
            recording: None,
            measured: PROFILE,
            answered: 0,
            requests: Vec::new(),
            routes: Vec::new(),
            cpu: None,
            spans: None,
            threads: None,
            slowest: None,
        };
        Ok(Profile { profiler: none, observation, notes: Vec::new() })
    }

    /// By the first profiler that works.
    async fn record(&self) -> anyhow::Result<Profile> {
        let Triage { server, profilers, scratch, progress, .. } = *self.triage;
        let instruments = Instruments::default();
        let window = PROFILE.max(ENOUGH * server.visit_takes);
        let watch = Watch { server, profilers, instruments, window, scratch };
        let load = Load { users: WATCHED, think_ms: 0, ..server.workload.load };
        let mut notes = Vec::new();
        let record = async |profiler| {
            progress.step("recording a profile");
            let plan = watch.plan(self.server.target(), self.pid, Arrivals::ClosedLoop(load));
            watch.under_load(profiler, "server", self.server.url(), plan).await
        };
        let note = |obstacle| notes.push(Note::Sentence(obstacle));
        let (profiler, observation) = first_that_works(profilers.usable(), record, note).await?;
        let requests = Request::of_visit(&server.requests).len() as u64;
        self.memory.learn(observation.cpu, observation.answered / requests.max(1));
        let recorded = observation.recording.iter().flat_map(|recording| recording.notes.clone());
        notes.extend(recorded.map(Note::from));
        Ok(Profile { profiler, observation, notes })
    }

    async fn count(&self) -> anyhow::Result<Counting> {
        let mut counter = Counter::attach(self.pid, EVENTS).await?;
        let length = counting(self.triage.server.visit_takes);
        let load = self.load(WATCHED, Duration::ZERO, length);
        let before = open_files(self.pid);
        let watched = async {
            let (outcome, files) = tokio::join!(generate(&load), watch_files(self.pid, length));
            Ok((outcome?, files))
        };
        let (outcome, opened) = counter.during(watched).await?;
        // Each call that is counted costs the server time.
        self.memory.learn_of(&outcome);
        let visits = outcome.ok + outcome.wrong + outcome.unfinished;
        let files = Files::of(self.pid, opened, &before, &self.triage.server.requests, visits);
        Ok(Counting { counter, visits, files })
    }

    pub(super) fn load(&self, users: usize, warm_up: Duration, measurement: Duration) -> LoadPlan {
        let server = self.triage.server;
        let arrivals = Arrivals::ClosedLoop(Load { users, think_ms: 0, ..server.workload.load });
        LoadPlan {
            server_pid: Some(self.pid),
            warm_up,
            measurement,
            grace: GRACE.max(2 * server.visit_takes),
            ..LoadPlan::new(self.server.target(), server.requests.clone(), arrivals)
        }
    }
}

/// How long all stages take about, if a visit takes so long.
pub fn expected(visit: Duration) -> Duration {
    // One visit comes before each warm-up, and one after each measurement.
    let level = |users| 2 * visit + warm_up(visit) + Level::expected(users, visit);
    let levels: Duration = LEVELS.into_iter().map(level).sum();
    IDLE + levels + PROFILE.max(ENOUGH * visit) + counting(visit) + OTHER
}

/// The warm-up: one visit comes before it, and all users begin within the time of another visit.
pub fn warm_up(visit: Duration) -> Duration {
    WARM_UP.max(visit + visit / 5)
}

fn counting(visit: Duration) -> Duration {
    COUNTING.max(ENOUGH * visit)
}

/// Why a load fails that fewer users can make.
fn too_many(users: usize, answered: Option<usize>) -> String {
    let Some(fewer) = answered else { return "one user gets no answers".to_owned() };
    format!(
        "{} can be served, and {users} cannot. Each keeps a connection open, so look for a limit of \
         connections or workers between these numbers",
        plural(fewer, "user")
    )
}
